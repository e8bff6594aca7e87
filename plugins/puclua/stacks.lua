-- stacks: Lua frames at their places among C frames. Each luaV_execute on the C stack runs calls of one thread: since
-- 5.2 a CallInfo marks where an interpreter started, in 5.1 luaV_execute itself counts (nexeccalls).
local xcore = require "xcore"
local frame = require "puclua.frame"
local layout = require "puclua.layout"
local vm_of = require "puclua.vm"

local stacks = {}

local DETAILED = 20000 -- frames whose variables are shown
local MOST = 100000    -- frames in total

local function row_of(vm, list, i, budget)
	local one = list[i]
	local row = {
		name = frame.name(vm, one, list[i + 1]),
		file = one.source,
		line = one.line,
		language = "lua",
		kind = one.pt and "function" or "C",
	}
	if one.c then row.pc = one.c end
	budget.rows = budget.rows + 1
	if not one.pt or budget.rows > DETAILED then return row end
	local ok, variables = pcall(frame.variables, vm, one)
	row.args, row.locals, row.upvalues = {}, {}, {}
	for _, v in ipairs(ok and variables or {}) do
		local group = v.kind == "argument" and row.args or v.kind == "local" and row.locals or row.upvalues
		group[#group + 1] = { name = v.name, type = v.type, value = v.value, why = v.why }
	end
	return row
end

local function argument(one, name)
	local ok, value = pcall(one.var, one, name)
	return ok and value or nil
end

-- The thread of a frame's `L`, if it belongs to this state.
local function lua_thread(vm, one)
	local L = argument(one, "L")
	local ok, is = pcall(function() return L.tt == layout.THREAD and xcore.addr(L.l_G) == vm.addr end)
	return ok and is and xcore.addr(L) or nil
end

local NEAR = 4 -- frames

-- Without debug information: the only Lua thread in the callee-saved registers.
local function thread_in_registers(vm, one)
	local ok, registers = pcall(one.registers, one)
	local found
	for _, value in pairs(ok and registers or {}) do
		if vm.threads[value] then
			if found and found ~= value then return nil end
			found = value
		end
	end
	return found
end

-- The functions that the interpreter calls work for the same thread: used if its own L is optimized out.
local function thread_of(vm, frames, i)
	for n = i, math.max(i - NEAR, 1), -1 do
		if n < i and frames[n].name == "luaV_execute" then break end
		local addr = lua_thread(vm, frames[n])
		if addr then return addr end
	end
	return thread_in_registers(vm, frames[i])
end

-- luaV_execute's frames of a thread of the process, by the Lua thread that they run: { [addr] = { { frame, calls }, …
-- } }, and those in order.
local function interpreters(vm, thread)
	local by, order, frames = {}, {}, (thread:frames())
	for i, one in ipairs(frames) do
		vm.named = vm.named or one.name == "luaV_execute"
		local addr = one.name == "luaV_execute" and one.sp and not one.inlined and thread_of(vm, frames, i)
		if addr then
			if not by[addr] then
				by[addr] = {}
				order[#order + 1] = addr
			end
			local calls = vm.layout.array_of_calls and argument(one, "nexeccalls") or nil
			table.insert(
				by[addr],
				{ frame = one, calls = math.type(calls) == "integer" and calls > 0 and calls or nil }
			)
		end
	end
	return by, order
end

-- The calls of each interpreter: the number of Lua calls, from the innermost, that belong to each. If the CallInfos
-- do not match the number of interpreters, the C functions between the calls separate them.
local function parts(list, count)
	local by_flag, by_c, run, run_c = {}, {}, 0, 0
	for _, one in ipairs(list) do
		if one.pt then
			run, run_c = run + 1, run_c + 1
			if one.fresh then
				by_flag[#by_flag + 1] = run
				run = 0
			end
		elseif run_c > 0 then
			by_c[#by_c + 1] = run_c
			run_c = 0
		end
	end
	if run_c > 0 then by_c[#by_c + 1] = run_c end
	if run > 0 then by_flag[#by_flag + 1] = run end
	if #by_flag == count then return by_flag end
	return #by_c == count and by_c or nil
end

local function tell_lua_thread(vm, thread, told, addr, machine, budget)
	local list = frame.list(vm, addr)
	local turns, next_call = parts(list, #machine), 1
	for n, one in ipairs(machine) do
		local wanted = one.calls or turns and turns[n] or n == #machine and math.huge or 1
		local rows, taken = {}, 0
		while list[next_call] and taken < wanted do
			if list[next_call].pt then
				rows[#rows + 1] = row_of(vm, list, next_call, budget)
				taken = taken + 1
			end
			next_call = next_call + 1
		end
		if #rows > 0 then told:frames(thread.tid, one.frame.sp, rows) end
	end
end

local function tell_coroutine(vm, told, addr, budget)
	local list = frame.list(vm, addr)
	local state = frame.state(vm, addr, list)
	if #list == 0 then return end
	local rows = {}
	for i = 1, #list do rows[i] = row_of(vm, list, i, budget) end
	if state == "active" and list[1] then vm.unplaced = (vm.unplaced or 0) + 1 end
	told:stack {
		name = (addr == xcore.addr(vm.main) and "main thread " or "coroutine ") .. xcore.hex(addr),
		state = state,
		rows = rows,
	}
end

local function tell(vm, told)
	local budget, on_stack, lua_threads = { rows = 0 }, {}, frame.threads(vm)
	vm.threads, vm.unplaced = {}, 0
	for _, addr in ipairs(lua_threads) do vm.threads[addr] = true end
	for _, thread in ipairs(vm.t:threads()) do
		local by, order = interpreters(vm, thread)
		for _, addr in ipairs(order) do
			on_stack[addr] = true
			tell_lua_thread(vm, thread, told, addr, by[addr], budget)
		end
	end
	for _, addr in ipairs(lua_threads) do
		if budget.rows > MOST then return end
		if not on_stack[addr] then
			local ok = pcall(tell_coroutine, vm, told, addr, budget)
			if not ok then vm:damaged(addr, "a coroutine cannot be read") end
		end
	end
end

-- Running stacks that have no place among C frames: the reason.
local function unplaced(vm)
	local one = vm.unplaced == 1
	local why = vm.named and "no register shows which state a frame of luaV_execute belongs to"
		or "no frame has the name luaV_execute, the program was stripped"
	local what = ("%d running Lua stack%s not placed among C's frames: %s"):format(
		vm.unplaced,
		one and " is" or "s are",
		why
	)
	return xcore.error("unsupported", what,
		"xcore bt --coroutines shows them; names of functions are enough to place them: give the debug file, or the program before strip")
end

-- Does a thread run Lua? Unknown, so true, if the symbol of the interpreter is missing.
local function may_run(t)
	if not t:has_symbol "luaV_execute" then return true end
	for _, thread in ipairs(t:threads()) do
		for _, one in ipairs((thread:frames())) do
			if one.name == "luaV_execute" then return true end
		end
	end
	return false
end

-- Errors are raised after everything else was reported. If no thread runs Lua and coroutines are not shown, memory is
-- not searched for a state: that takes 0.5 s per GiB.
function stacks.tell(t, told)
	local failure
	local states = (told.detached or may_run(t)) and vm_of.all(t, true) or vm_of.named(t)
	for _, vm in ipairs(states) do
		local ok, err = pcall(tell, vm, told)
		failure = failure or not ok and err
		if vm.unplaced and vm.unplaced > 0 then failure = failure or unplaced(vm) end
	end
	if failure then error(failure, 0) end
end

return stacks
