-- stacks: LuaJIT's additions to the stacks of threads: unwind information for its code, and Lua frames at their
-- places among C frames.
--
-- Traces have no call frame information. The assembler code has some, but it is wrong while that code calls its own
-- helpers (each call pushes 8 bytes that it does not count) and while a trace is left. The VM's frame on the C stack,
-- found through L.cframe and its chain, is reliable: its size is constant, and everything below it belongs to the
-- same frame.
--
--	CFA - 8 return address, - 16 rbp, - 24 rbx, - 32 r15, - 40 r14, - 80 cframe; in traces also - 80 r12, - 88 r13     (vm_x64.dasc)
local xcore = require "xcore"
local coroutines = require "luajit.coroutine"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local machine = require "luajit.machine"
local trace = require "luajit.trace"
local variables = require "luajit.variables"
local vm_of = require "luajit.vm"

local stacks = {}

local SIZE_IN_TRACE = 96 -- 16 more than in the interpreter: r12 and r13 (BC_JLOOP)
local REACH = 80         -- words from the stack pointer to the frame's: leaving a trace saves all registers
local PASSES = 64        -- corrections of one stack
local DETAILED = 20000   -- frames whose variables are shown
local MOST = 100000      -- frames in total
local ENOUGH = 2         -- seconds for the stacks that are on no thread

local SAVED = { rip = -8, rbp = -16, rbx = -24, r15 = -32, r14 = -40 }
stacks.SAVED, stacks.SIZE_IN_TRACE = SAVED, SIZE_IN_TRACE
local SAVED_IN_TRACE = { rip = -8, rbp = -16, rbx = -24, r15 = -32, r14 = -40, r12 = -80, r13 = -88 }

-- ---- frames of the VM on the C stack ----

-- The coroutine of this frame, if the coroutine confirms it.
local function owner(vm, at)
	vm.chains = vm.chains or {}
	local where = frame.cframes(vm)
	local ok, L = pcall(function()
		local addr = vm.layout.gc64 and vm.t:u64(at + where.L) or vm.t:u32(at + where.L)
		if addr & 7 ~= 0 or vm.t:readable(addr, 64) < 64 then return nil end
		local thread = vm.t:value("lua_State", addr)
		if thread.gct ~= layout.THREAD or thread.glref[vm.layout.mref] ~= vm.addr then return nil end
		if not vm.chains[addr] then
			local set = {}
			for _, one in ipairs(frame.chain(vm, thread)) do set[one] = true end
			vm.chains[addr] = set
		end
		return vm.chains[addr][at] and thread or nil
	end)
	return ok and L or nil
end

-- The VM frame of a native frame: its address and its coroutine.
local function find(vm, sp)
	for n = 0, REACH do
		local L = owner(vm, sp + 8 * n)
		if L then return sp + 8 * n, L end
	end
end

-- ---- code ----

-- A trace by its range: { lo, hi, number, trace }.
function stacks.tell_trace(vm, told, range)
	local ok, _, file, line = pcall(trace.start, vm, range.trace)
	local code =
		{ lo = range.lo, hi = range.hi, override = true, name = ("TRACE %d"):format(range.number), language = "lua" }
	if ok then code.file, code.line = file, line end
	if vm.t.arch == "x86-64" then
		code.cfa = { "rsp", range.trace.spadjust + SIZE_IN_TRACE }
		code.saved = SAVED_IN_TRACE
	end
	told:code(code)
end

local function tell_traces(vm, told)
	for _, range in ipairs(trace.ranges(vm)) do stacks.tell_trace(vm, told, range) end
end

-- The native frames of a thread that belong to the VM: { frame, at, L }, innermost first. Corrects their unwinding.
local function vm_frames(vm, thread, told)
	local found
	for _ = 1, PASSES do
		local frames, corrected = thread:frames(), false
		found = {}
		for i, one in ipairs(frames) do
			local pc = i > 1 and not frames[i - 1].signal and one.pc - 1 or one.pc
			local compiled = trace.at(vm, pc)
			if one.sp and not one.inlined and (compiled or machine.in_assembler(vm, pc) and one.name ~= "lj_vm_ffi_call") then
				local at, L = find(vm, one.sp)
				if at then
					found[#found + 1] = { frame = one, at = at, L = L }
					if not one.name then told:code { lo = one.pc - 1, hi = one.pc, name = "(LuaJIT's interpreter)" } end
					local cfa = at + frame.cframes(vm).size
					if one.cfa ~= cfa and vm.t.arch == "x86-64" then
						told:code { lo = one.pc - 1, hi = one.pc, override = true, name = one.name or "(LuaJIT's interpreter)", cfa = { "rsp", cfa - one.sp },
							saved = compiled and SAVED_IN_TRACE or SAVED, file = compiled and one.file, line = compiled and one.line }
						corrected = true
						break
					end
				end
			end
		end
		if not corrected then return found end
	end
	return found
end

-- ---- rows ----

local function variable_rows(list, kind)
	local rows = {}
	for _, v in ipairs(list) do
		if kind(v) then
			rows[#rows + 1] = { name = v.name, value = v.text, why = not v.text and (v.why or "cannot be read") or nil }
		end
	end
	return rows
end

-- Nearly every function has functions as upvalues, which never change: `luajit.bt --locals` shows them.
local function is_function(v)
	return v.text and (v.text:find "^function " or v.text:find "^builtin " or v.text:find "^C function ")
end

local function add_variables(vm, row, one, top, told)
	local ok, list = pcall(variables.of, vm, one, top)
	if not ok then
		return
	end
	row.args = variable_rows(list, function(v) return v.kind == "argument" or v.kind == "vararg" end)
	row.locals = variable_rows(list, function(v) return v.kind == "local" end)
	if told[one.func] then return end -- a recursion has the same upvalues in each frame
	told[one.func] = true
	row.upvalues = variable_rows(list, function(v) return v.kind == "upvalue" and not is_function(v) end)
end

local function row_of(vm, list, i, budget)
	local one = list[i]
	local what = frame.describe(vm, one, list[i + 1])
	local row = { name = what.title, file = what.file, line = what.line, language = "lua", pc = one.pc and one.pc - 4 }
	row.kind = one.trace and "trace" or what.kind == "Lua" and "function" or what.kind
	budget.rows = budget.rows + 1
	if one.lua and budget.rows < DETAILED then
		budget.told[list] = budget.told[list] or {}
		add_variables(vm, row, one, list.top, budget.told[list])
	end
	return row
end

-- ---- threads ----

local function rows_by_cframe(vm, L, budget)
	local list = coroutines.frames(vm, L)
	local by, order = {}, {}
	for i, one in ipairs(list) do
		if not by[one.cframe] then
			by[one.cframe] = {}
			order[#order + 1] = one.cframe
		end
		table.insert(by[one.cframe], row_of(vm, list, i, budget))
	end
	return by, order
end

local function tell_thread(vm, thread, told, budget)
	local seen = {}
	for _, one in ipairs(vm_frames(vm, thread, told)) do
		local addr = xcore.addr(one.L)
		if not seen[addr] then
			seen[addr] = true
			vm.on_thread[addr] = true
			local by, order = rows_by_cframe(vm, one.L, budget)
			for _, at in ipairs(order) do
				if at ~= 0 then told:frames(thread.tid, at, by[at]) end
			end
		end
	end
end

-- ---- coroutines ----

local function tell_coroutine(vm, told, addr, budget)
	local L = vm.t:value("lua_State", addr)
	local state = not vm.on_thread[addr] and coroutines.state(vm, L)
	if not state or state == "finished" or state == "new" then return end
	local list = coroutines.frames(vm, L)
	local rows = {}
	for i = 1, #list do rows[i] = row_of(vm, list, i, budget) end
	if #rows == 0 then return end
	told:stack {
		name = (addr == xcore.addr(vm.main) and "main thread " or "coroutine ") .. xcore.hex(addr),
		state = state,
		rows = rows,
	}
end

local function tell_coroutines(vm, told, budget)
	local all = coroutines.all(vm)
	table.insert(all, 1, xcore.addr(vm.main)) -- if the native stacks are unknown
	local began = xcore.clock()
	for i, addr in ipairs(all) do
		if budget.rows > MOST or xcore.clock() - began > ENOUGH then
			error(xcore.error("format", ("%d more coroutines were not examined"):format(#all - i + 1),
				"xcore run luajit.bt TARGET all groups equal stacks"), 0)
		end
		local ok, err = pcall(tell_coroutine, vm, told, addr, budget)
		if not ok then
			vm:damaged(addr, "a coroutine cannot be read")
		end
	end
end

-- ---- all ----

local function tell(vm, told)
	local budget, failure = { rows = 0, told = {} }, nil
	vm.on_thread = {}
	if frame.cframes(vm) then
		tell_traces(vm, told)
		for _, thread in ipairs(vm.t:threads()) do
			local ok, err = pcall(tell_thread, vm, thread, told, budget)
			failure = failure or not ok and err
		end
	end
	tell_coroutines(vm, told, budget)
	if failure then error(failure, 0) end
end

-- The VMs found in a cheap way: the registers lead to those that threads are in. All memory is searched only if
-- nothing else led to one.
function stacks.quick(t)
	local list, known = {}, {}
	for _, way in ipairs { "register", "nginx", "global" } do
		local ok, found = pcall(vm_of.all, t, way)
		for _, one in ipairs(ok and found or {}) do
			if not known[one.addr] then list[#list + 1] = one end
			known[one.addr] = true
		end
	end
	if #list == 0 then list[1] = vm_of.one(t) end
	return list
end

-- Errors are raised after everything else was reported.
function stacks.tell(t, told)
	local failure
	for _, vm in ipairs(stacks.quick(t)) do
		local ok, err = pcall(tell, vm, told)
		failure = failure or not ok and err
	end
	if failure then error(failure, 0) end
end

return stacks
