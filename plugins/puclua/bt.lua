-- bt: the calls of the running thread, of one, or of all.
local xcore = require "xcore"
local commands = require "puclua.commands"
local frame = require "puclua.frame"
local layout = require "puclua.layout"

local bt = {}

local SHOWN = 200

local function add_variables(vm, section, list, limit)
	local rows = section:table("variables", {
		{ "frame", "integer", label = "#" }, { "kind", "text" }, { "name", "text" }, { "type", "text" }, { "value", "text", secret = true },
	})
	for i = 1, math.min(#list, limit) do
		local ok, variables = pcall(frame.variables, vm, list[i])
		if not ok then
			vm:damaged(list[i].ci, "the variables of a call cannot be read")
		else
			for _, v in ipairs(variables) do rows:row(i - 1, v.kind, v.name, v.type, v.value or v.why) end
		end
	end
end

-- By the native stack: the innermost thread that a frame works for.
local function by_frames(vm)
	for _, thread in ipairs(vm.t:threads()) do
		for _, one in ipairs((thread:frames(256))) do
			for _, arg in ipairs(one:args()) do
				if arg.name == "L" and arg.value and not arg.guessed then
					local ok, is = pcall(
						function() return arg.value.tt == layout.THREAD and xcore.addr(arg.value.l_G) == vm.addr end
					)
					if ok and is then return xcore.addr(arg.value) end
				end
			end
		end
	end
end

-- Without frames that identify the thread: of the threads that are neither suspended nor done, the one with the most
-- C calls (resumed last). A guess.
local function by_depth(vm)
	local best, depth = xcore.addr(vm.main), -1
	for _, addr in ipairs(frame.threads(vm)) do
		local ok, state = pcall(function() return frame.state(vm, addr, frame.list(vm, addr)) end)
		local calls = ok and state == "active" and vm.t:value("lua_State", addr).nCcalls & 0xffff
		if calls and (calls > depth or best == xcore.addr(vm.main)) then best, depth = addr, calls end
	end
	return best
end

-- The running thread, and whether it is a guess.
function bt.running(vm)
	if not vm.running then
		local found = by_frames(vm)
		vm.running = { found or by_depth(vm), not found }
	end
	return vm.running[1], vm.running[2]
end

local function add(vm, report, addr, options, number)
	local list = frame.list(vm, addr)
	local section = report:section(
		"thread_" .. number,
		("%s %s"):format(addr == xcore.addr(vm.main) and "Main thread" or "Coroutine", xcore.hex(addr))
	)
	section:text("state", frame.state(vm, addr, list))
	local columns = {
		{ "frame", "integer", label = "#" }, { "kind", "text" }, { "function", "text" }, { "file", "text" }, { "line", "integer" },
		{ "address", "address", verbose = true },
	}
	if #list == 0 then return end
	local rows, limit = section:table("frames", columns), options.limit or SHOWN
	for i, one in ipairs(list) do
		if i > limit then break end
		rows:row(i - 1, one.kind, frame.name(vm, one, list[i + 1]), one.source, one.line, one.fn)
		if one.tail then section:note(("frame %d was entered by a tail call: its caller is lost"):format(i - 1)) end
	end
	if options.locals then add_variables(vm, section, list, limit) end
	if #list > limit then
		section:note(("the first %d of %d calls are shown"):format(limit, #list), "--limit N shows more")
	end
end

-- puclua.bt [THREAD|all] [--locals] [--limit N]
function bt.run(t, report, args)
	local vm, options = commands.options(t, args, { locals = "flag", limit = "number" }, 1)
	local which = options[1]
	local list
	if which == "all" then
		list = frame.threads(vm)
	elseif which then
		local addr = math.tointeger(tonumber(which))
		if not addr then error(xcore.error("usage", "neither the address of a thread nor `all`: " .. which)) end
		if vm:kind(addr) ~= 8 then
			error(xcore.error("not_found", xcore.hex(addr) .. " is not a thread", "puclua.bt TARGET all lists threads"))
		end
		list = { addr }
	else
		list = { (bt.running(vm)) }
	end
	for i, addr in ipairs(list) do add(vm, report, addr, options, i) end
	if not which and select(2, bt.running(vm)) then
		report:section "thread_1":note("this thread is a guess: no native frame shows which thread runs",
			"puclua.bt TARGET all shows all")
	end
	if vm.damages or vm.others then vm:tell(report:section("damage", "Lua: notes")) end
end

return bt
