-- report: Python in `xcore analyze`: its version, threads, GIL, the collector's objects, and suspicious findings.
-- Expensive queries are left to the commands: lists of objects are followed for MOST objects, and up to THREADS
-- threads are shown.
local xcore = require "xcore"
local collector = require "cpython.collector"
local dict = require "cpython.dict"
local frame = require "cpython.frame"
local machine = require "cpython.machine"
local objects = require "cpython.objects"
local runtime = require "cpython.runtime"
local text = require "cpython.text"
local threads = require "cpython.threads"
local types = require "cpython.types"

local report = {}

local MOST, MOST_LIVE = 300000, 30000 -- objects: reading a running process must not disturb it
local THREADS, TYPES = 12, 5          -- rows
local DEEP = 900                      -- calls: near the 1,000 at which Python itself stops a recursion
local LOUDEST = 1 << 40               -- references to one object: more is damage

-- "3.11.2", as in sys.version.
local function version(py)
	local held = py.interpreters[1].sysdict
	local found = held and dict.get(py, xcore.addr(held), "version")
	return found and text.maybe(py.t, found, 200)
end

-- ---- threads ----

-- The crashed thread, then the holders of the GIL, then all others in order.
local function in_order(py)
	local first, second, rest, crashed = {}, {}, {}, nil
	for _, thread in ipairs(runtime.threads(py)) do
		local os = runtime.machine(py, thread)
		local _, holder = threads.holder(py, thread.interpreter)
		if os and os.crashed then
			first[#first + 1], crashed = thread, thread
		else
			local into = holder == thread.addr and second or rest
			into[#into + 1] = thread
		end
	end
	table.move(second, 1, #second, #first + 1, first)
	return table.move(rest, 1, #rest, #first + 1, first), crashed
end

-- Functions that may be called without the GIL, by prefix.
local FREE = { "^_?PyEval_", "^_?PyGILState_", "^_?PyThread_", "^_?PyMem_Raw", "^_?Py_AddPendingCall", "^_Py_Fatal" }

local function needs_lock(name)
	for _, pattern in ipairs(FREE) do
		if name:find(pattern) then return false end
	end
	return name:find "^_?Py%u%w*_" ~= nil -- PyList_Append
end

-- The innermost function of CPython's API that code of another module called. (CPython calls its own functions
-- without the GIL, where this is allowed.)
local function in_api(py, thread)
	local own, last = py.t:symbol "_PyRuntime".module, nil
	for _, one in ipairs(machine.frames(py, thread)) do
		if one.name and one.name:find "^_PyEval_EvalFrame" then return nil end
		if one.module == own then
			last = one.name
		elseif last or not (one.module or ""):find "/lib[cm][.-][^/]*$" then
			return last and needs_lock(last) and last or nil
		end
	end
end

local function add_crashed(py, section, thread)
	local list = frame.list(py, thread)
	local at = list[1] and frame.describe(py, list[1])
	if at then
		section:headline(("it died in a call from %s, %s:%s"):format(at.name, (at.file or "?"):match "[^/]*$",
			at.line or "?"))
		section:text(
			"at",
			("%s at %s:%s"):format(at.name, at.file or "?", at.line or "?"),
			{ label = "innermost Python code" }
		)
		section:count("calls", #list, { label = "Python frames" })
	else
		section:headline "the thread that died ran no Python code"
	end
	threads.add_exception(py, thread, section)
	local gil, holder = threads.holder(py, thread.interpreter)
	local api = gil and holder ~= thread.addr and in_api(py, thread)
	if api then
		section:warning(("the thread that died was in %s without the GIL"):format(api),
			"C code must hold the GIL to use Python objects: PyGILState_Ensure")
	end
end

local function add_deep(py, section, list)
	for _, thread in ipairs(list) do
		local calls = frame.list(py, thread)
		if #calls >= DEEP then
			local os, counts, most = runtime.machine(py, thread), {}, nil
			for _, one in ipairs(calls) do
				counts[one.code or 0] = (counts[one.code or 0] or 0) + 1
				if not most or counts[one.code or 0] > counts[most] then most = one.code or 0 end
			end
			section:warning(("thread %s is %d calls deep, %d of them of %s"):format(os and os.tid or "?", #calls, counts[most],
				type(most) == "table" and most.name or "?"), "endless recursion? it exhausts the C stack or memory")
		end
	end
end

local function add_threads(py, section)
	local list, crashed = in_order(py)
	section:count("python_threads", #list, { label = "Python threads" })
	local gil, holder = threads.holder(py, py.interpreters[1])
	for _, thread in ipairs(holder and list or {}) do
		if thread.addr == holder then
			local os = runtime.machine(py, thread)
			section:integer("gil_holder", os and os.tid, { label = "GIL held by thread" })
		end
	end
	if gil and not holder then section:text("gil", "not held", { label = "GIL" }) end
	if crashed then add_crashed(py, section, crashed) end
	threads.add(py, section, table.move(list, 1, math.min(#list, THREADS), 1, {}))
	if #list > THREADS then section:note(("%d more threads"):format(#list - THREADS), "cpython.threads shows all") end
	add_deep(py, section, table.move(list, 1, math.min(#list, THREADS), 1, {}))
end

-- ---- objects ----

local function add_types(py, section, addresses)
	local c = objects.heads(addresses)
	local counts, first, wrong, without = {}, {}, nil, nil
	for i, addr in ipairs(addresses) do
		local references, at = c.references[i], c.type[i]
		if at and not counts[at] then first[at] = addr end
		if at then counts[at] = (counts[at] or 0) + 1 else without = without or addr end
		if references and (references <= 0 or references > LOUDEST) then wrong = wrong or addr end
	end
	local top = xcore.top(TYPES)
	for at, count in pairs(counts) do
		local type = types.at(py, at)
		if type then
			top:add(count, type.name)
		else
			local others = count > 1 and (", as %d others"):format(count - 1) or ""
			py:damaged(first[at],
				("an object of the collector%s has %s as its type, which is not a type"):format(others, xcore.hex(at)))
		end
	end
	local rows = section:table("types", { { "type", "text" }, { "count", "count" } })
	for _, one in ipairs(top:items()) do rows:row(one.item, one.weight) end
	if without then py:damaged(without, "an object of the collector cannot be read") end
	if wrong then
		py:damaged(
			wrong,
			"an object of the collector whose count of references is impossible: it was freed, or overwritten"
		)
	end
end

local function add_objects(py, section)
	local most = py.t.live and MOST_LIVE or MOST
	local list, cut = collector.tracked(py, most)
	local all = {}
	for _, name in ipairs(collector.names(py)) do table.move(list[name], 1, #list[name], #all + 1, all) end
	section:count("objects", #all, { label = cut and "objects examined" or "objects of the collector" })
	if cut then
		section:note(("the collector has more objects: at most about %d of each generation were examined"):format(most),
			"cpython.objects counts all")
	end
	add_types(py, section, all)
	for _, interpreter in ipairs(py.interpreters) do
		local gc = interpreter.gc
		local young = list["generation 0"] and #list["generation 0"] or 0
		if gc.collecting ~= 0 then
			section:warning("a collection is in progress",
				"the usual cause of a crash here is C code that earlier released one reference too many")
		elseif gc.enabled == 0 and xcore.has(gc, "generations") and young > 10 * math.max(gc.generations[0].threshold, 1000) then
			section:warning(("the collector is off, and %d objects%s were created since its last run"):format(young,
				cut and " or more" or ""),
				"cycles of objects are never freed: gc.enable()")
		end
	end
end

-- A program with Python's code may have started no interpreter: nothing is reported then.
function report.analyze(t, to)
	local py = runtime.of(t)
	if #py.interpreters == 0 then return end
	local section = to:section("cpython", "Python")
	local found = runtime.try(version, py)
	section:text("version", found and found:match "^[^%s]+" or nil)
	section:text("build", found, { quiet = true })
	if #py.interpreters > 1 then section:count("interpreters", #py.interpreters) end
	for _, add in ipairs { add_threads, add_objects } do
		local _, why = runtime.try(function() add(py, section) end)
		if why then section:warning("the analysis is incomplete: " .. why) end
	end
	section:note("the stacks above contain Python frames among C frames",
		"cpython.bt --locals: their variables; cpython.objects, cpython.refs ADDR: holders of memory; cpython.gil")
	py:tell(section)
end

return report
