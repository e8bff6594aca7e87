-- threads: the commands about threads: threads, bt, gil.
local xcore = require "xcore"
local args = require "lib.args"
local dict = require "cpython.dict"
local frame = require "cpython.frame"
local machine = require "cpython.machine"
local runtime = require "cpython.runtime"
local text = require "cpython.text"
local types = require "cpython.types"
local value = require "cpython.value"

local threads = {}

-- ---- names ----

-- Names and numbers of threads in threading.Thread: threading._active has them by thread id.
local function names(py)
	if py.names then return py.names end
	py.names, py.natives = {}, {}
	runtime.try(function()
		local modules = require("cpython.modules").of(py)
		local module = modules and modules.threading
		local attributes = module and dict.of_instance(py, module, types.of(py, module))
		local active = attributes and dict.get(py, attributes, "_active")
		if not active then return end
		dict.each(py, active, function(key, thread)
			local type = types.of(py, thread)
			if not type then return end
			dict.each_attribute(py, thread, type, function(name, held)
				local called, ident = text.maybe(py.t, name, 12), text.integer(py.t, py.layout, key)
				if called == "_name" then py.names[ident] = text.maybe(py.t, held, 200) end
				if called == "_native_id" then
					py.natives[ident] = math.tointeger(tonumber(text.integer(py.t, py.layout, held)))
				end
			end)
		end, 20000)
	end)
	return py.names
end

-- The kernel's id of a thread, from threading.Thread (since 3.8).
function threads.native(py, thread)
	names(py)
	return py.natives[("%d"):format(thread.state.thread_id)]
end

function threads.name(py, thread)
	return names(py)[("%d"):format(thread.state.thread_id)]
end

-- ---- exceptions ----

-- The exception that is being raised or handled: an address, and which of the two.
local function exception(py, thread)
	local state = thread.state
	local raised
	for _, member in ipairs { "current_exception", "curexc_value", "curexc_type" } do
		if not raised and xcore.has(state, member) then raised = state[member] end
	end
	if raised then return xcore.addr(raised), "raised" end
	local item = state.exc_info
	for _ = 1, 1000 do
		if not item then return nil end
		local held = item.exc_value
		if held and xcore.addr(held) ~= py.t:symbol "_Py_NoneStruct".addr then
			return xcore.addr(held), "being handled"
		end
		item = item.previous_item
	end
end

-- "KeyError('x')": class and arguments.
local function exception_text(py, addr)
	local type = types.of(py, addr)
	if not type then return nil end
	if type.kind == "type" then return value.show(py, addr) end
	local held = py.t:has_type "PyBaseExceptionObject" and py.t:value("PyBaseExceptionObject", addr).args
	local shown = held and value.show(py, xcore.addr(held)) or ""
	return type.name .. (shown:match "^%(.*%)$" and shown:gsub(",%)$", ")") or "")
end

local function add_exception(py, thread, section)
	local found, what = runtime.try(exception, py, thread)
	if found then
		section:text("exception", (exception_text(py, found) or xcore.hex(found)) .. ", " .. what, { secret = true })
	end
end

-- ---- commands ----

local function holder_of(py, interpreter)
	local gil = runtime.gil(py, interpreter)
	return gil, gil and gil.locked ~= 0 and gil.locked ~= -1 and gil.holder or nil
end

local function where(py, thread)
	local list = frame.list(py, thread)
	if #list == 0 then return nil end
	local what = frame.describe(py, list[1])
	return ("%s  %s:%s"):format(what.name, what.file and what.file:match "[^/]*$" or "?", what.line or "?")
end

threads.holder = holder_of

-- The exception of a thread, as a field, if it has one.
threads.add_exception = add_exception

-- A table of these threads; returns the number of those that hold the GIL.
function threads.add(py, section, list)
	local rows = section:table("threads", {
		{ "thread", "integer" }, { "name", "text" }, { "gil", "text", label = "GIL" }, { "doing", "text" }, { "frames", "count" },
		{ "where", "text" }, { "interpreter", "integer", verbose = true }, { "state", "address", verbose = true },
	})
	local holders = 0
	for _, thread in ipairs(list) do
		local _, holder = holder_of(py, thread.interpreter)
		local os = runtime.machine(py, thread)
		local holds = holder == thread.addr
		if holds then holders = holders + 1 end
		local doing = machine.doing(py, thread, holds)
		local state = holds and "holds" or doing == "waits for the GIL" and "waits" or "free of it"
		rows:row(os and os.tid or nil, threads.name(py, thread), state, doing .. (os and os.crashed and ", crashed" or ""),
			#frame.list(py, thread), where(py, thread), thread.interpreter.id, thread.addr)
	end
	return holders
end

-- cpython.threads
function threads.run(t, report, list)
	args.parse(list, {}, 0)
	local py = runtime.of(t)
	local section = report:section("threads", "Python threads")
	local holders = threads.add(py, section, runtime.threads(py))
	section:headline(("%d Python threads, %s"):format(#runtime.threads(py),
		holders > 0 and "the GIL is held" or "no thread holds the GIL"))
	py:tell(section)
end

-- cpython.gil
function threads.gil(t, report, list)
	args.parse(list, {}, 0)
	local py = runtime.of(t)
	local section = report:section("gil", "The GIL")
	local rows = section:table("interpreters", {
		{ "interpreter", "integer" }, { "held", "bool" }, { "thread", "integer", label = "HOLDER" }, { "name", "text" },
		{ "waiting", "count" }, { "switches", "count" }, { "interval", "seconds" }, { "address", "address" },
	})
	for _, interpreter in ipairs(py.interpreters) do
		local gil, holder = holder_of(py, interpreter)
		if gil then
			local found, waiting = nil, 0
			for _, thread in ipairs(runtime.threads(py)) do
				if thread.addr == holder then found = thread end
				local same = xcore.addr(thread.interpreter) == xcore.addr(interpreter)
				if same and machine.doing(py, thread) == "waits for the GIL" then waiting = waiting + 1 end
			end
			local os = found and runtime.machine(py, found)
			rows:row(interpreter.id, holder ~= nil, os and os.tid, found and threads.name(py, found), waiting, gil.switches,
				gil.interval / 1e6, gil.addr)
		else
			section:note(("interpreter %d has no GIL"):format(interpreter.id))
		end
	end
	py:tell(section)
end

local function add_frames(py, section, thread, options)
	local list, why = frame.list(py, thread)
	local rows = section:table("frames", {
		{ "frame", "integer", label = "#" }, { "function", "text" }, { "file", "text" }, { "line", "integer" },
		{ "address", "address", verbose = true },
	})
	local shown = math.min(#list, options.limit or 50)
	for i = 1, shown do
		local what = frame.describe(py, list[i])
		rows:row(i - 1, what.name, what.file, what.line, list[i].addr)
	end
	if #list > shown then section:note(("%d more frames"):format(#list - shown), "--limit N shows more") end
	if why then section:warning("the stack ends early: " .. why) end
	if not options.locals then return end
	local variables = section:table("variables", {
		{ "frame", "integer", label = "#" }, { "function", "text" }, { "name", "text", secret = true }, { "value", "text", secret = true },
		{ "address", "address", verbose = true },
	})
	for i = 1, shown do
		local name = frame.describe(py, list[i]).name
		for _, v in ipairs(frame.variables(py, list[i])) do
			variables:row(i - 1, name, v.name, v.text or v.why, v.addr)
		end
	end
end

-- cpython.bt [THREAD] [--locals] [--limit N]
function threads.bt(t, report, list)
	local options = args.parse(list, { locals = "flag", limit = "number" }, 1)
	local py, wanted, found = runtime.of(t), options[1] and args.address(options[1], "THREAD"), 0
	for i, thread in ipairs(runtime.threads(py)) do
		local os = runtime.machine(py, thread)
		if i > 900 then
			report:section("bt", "Python threads"):note("more threads are not shown", "name one by its id")
			break
		end
		if not wanted or os and os.tid == wanted then
			found = found + 1
			local name = threads.name(py, thread)
			local title = ("thread %s%s"):format(os and os.tid or "?", name and ' "' .. name .. '"' or "")
			local section = report:section("thread_" .. i, title .. (os and os.crashed and ", crashed" or ""))
			section:integer("thread", os and os.tid, { quiet = true })
			local _, holder = holder_of(py, thread.interpreter)
			section:headline(
				machine.doing(py, thread, holder == thread.addr) .. (holder == thread.addr and ", holds the GIL" or "")
			)
			add_exception(py, thread, section)
			add_frames(py, section, thread, options)
		end
	end
	if wanted and found == 0 then
		error(
			xcore.error(
				"not_found",
				("thread %d runs no Python code"):format(wanted),
				"cpython.threads lists those that do"
			)
		)
	end
	if py.damages then py:tell(report:section("damage", "CPython: damage")) end
end

return threads
