-- machine: the position of the VM on the C stack: the thread that runs it, and register contents that are not in
-- memory.
--
-- The interpreter keeps BASE and PC in registers and saves them only before it calls C; a trace saves nothing. So the
-- innermost frame of VM code decides: in a trace the snapshot of its exit, in the interpreter the registers, in C the
-- saved values. The result is proved: frames from there must end exactly at the bottom of the stack.
local xcore = require "xcore"
local frame = require "luajit.frame"
local inlining = require "luajit.inlining"
local ir = require "luajit.ir"
local snapshot = require "luajit.snapshot"
local trace = require "luajit.trace"

local machine = {}

local ASM_SIZE = 0xa000 -- the VM's assembler code is about 20 KiB
local DEEP = 512

-- Registers with the state in the interpreter (vm_x64.dasc, vm_arm64.dasc).
local REGISTERS = {
	["x86-64"] = { base = "rdx", pc = "rbx", others = { "rcx", "rax", "rbp", "rsi", "rdi" } },
	aarch64 = { base = "x19", pc = "x21", others = {} },
}

-- The beginning of the VM's assembler code: the instructions come first, so it is the code of the lowest one.
local function assembler(vm)
	if vm.assembler then return vm.assembler end
	local lo
	if vm.t:has_symbol "lj_vm_asm_begin" then
		lo = vm.t:symbol "lj_vm_asm_begin".addr
	else
		-- The table has the current handlers, then the handlers without hooks and recording.
		local table = vm.gg.dispatch
		local where = xcore.addr(table)
		for i = 0, xcore.sizeof(table) // 8 - 1 do
			local code = vm.t:ptr(where + 8 * i)
			if code ~= 0 and (not lo or math.ult(code, lo)) then lo = code end
		end
	end
	vm.assembler = { lo = lo, hi = lo + ASM_SIZE }
	return vm.assembler
end

-- Its bounds, inclusive: by its call frame information, which has one entry for all but lj_vm_ffi_call.
function machine.assembler(vm)
	local range = assembler(vm)
	local lo, hi = vm.t:code_range(range.lo)
	if lo and hi - lo < ASM_SIZE and hi - lo > ASM_SIZE // 16 then return lo, hi end
	return range.lo, range.hi - 1
end

function machine.in_assembler(vm, pc)
	local range = assembler(vm)
	return pc >= range.lo and pc < range.hi
end

-- The thread whose stack contains an address, and its frames.
function machine.thread(vm, at)
	local map = vm.t:map(at)
	if not map then return nil end
	for _, thread in ipairs(vm.t:threads()) do
		local frames = thread:frames(DEEP)
		local sp = frames[1] and frames[1].sp
		if sp and sp >= map.lo and sp <= map.hi then return thread, frames end
	end
	-- Nothing is known of a thread that is on a processor; if there is only one such thread, it is this one.
	if #vm.t:threads() == 1 then return vm.t:threads()[1], {} end
end

-- The innermost frame of VM code: "trace" and its range, or "assembler"; and the frame's number, from 1.
local function innermost(vm, frames)
	for i, one in ipairs(frames) do
		-- A return address is after the call.
		local pc = i > 1 and not frames[i - 1].signal and one.pc - 1 or one.pc
		local range = trace.at(vm, pc)
		if range then return "trace", i, range, pc end
		if not one.inlined and machine.in_assembler(vm, pc) and one.name ~= "lj_vm_ffi_call" then
			return "assembler", i
		end
	end
end

-- ---- proofs ----

local function is_good(vm, L, top)
	local stack, max = L.stack[vm.layout.mref], L.maxstack[vm.layout.mref]
	if top.base & 7 ~= 0 or top.base <= stack or top.base > max + 64 * 8 then return false end
	local ok, list, why = pcall(frame.list, vm, L, top)
	if not ok then
		return false
	end
	local first = list[1]
	if why or first and first.damaged then return false end
	if first and first.lua then return first.pos ~= nil or not top.pc end
	return true
end

local function from_registers(vm, L, one)
	local names = REGISTERS[vm.t.arch]
	if not names then return nil end
	local mask = vm.layout.gc64 and -1 or 0xffffffff
	local pc = one:register(names.pc)
	local saved = xcore.addr(L.base)
	local function try(base, how)
		local top = base and { base = base & mask, pc = pc and pc & mask, how = how }
		return top and is_good(vm, L, top) and top or nil
	end
	local found = try(one:register(names.base), "registers")
	if found then return found end
	for _, name in ipairs(names.others) do
		local base = one:register(name)
		-- Another apparent base may be older than the saved one.
		if base and base & mask >= saved then found = found or try(base, "registers") end
	end
	return found or try(saved, "saved base and register")
end

-- ---- in a trace ----

local function from_snapshot(vm, one, number, base, how, machine_frame)
	local snap = snapshot.read(vm, one, number)
	local slots, inner = snapshot.slots(vm, one, snap, base, machine_frame)
	return {
		base = inner,
		pc = snap.pc + 4,
		slots = slots,
		trace = one,
		snapshot = snap,
		how = how,
		compiled_from = base - 8,
	}
end

-- The functions that a trace may be in, as text; nil if there are none.
local function inlined(vm, one)
	local ok, functions = pcall(ir.functions, vm, one)
	return ok and #functions > 0 and table.concat(functions, ", ") or nil
end

-- The progress since the snapshot, if it is proved; else a note that there may have been some.
local function since_snapshot(vm, L, top, range, pc, machine_frame)
	local one, number = range.trace, top.snapshot.number
	local found = inlining.find(vm, one, number, top, machine_frame, range.lo, pc)
	if found and found.pc then
		local exact = { base = found.base, pc = found.pc, slots = found.slots, trace = one, snapshot = top.snapshot, compiled_from = top.compiled_from,
			how = ("snapshot %d of trace %d, then its bytecode replayed"):format(number, range.number) }
		if found.from ~= found.to then
			exact.note = ("the innermost line is approximate: trace %d is past its exit %d, in lines %d to %d"):format(
				range.number, number, found.from, found.to)
		end
		if is_good(vm, L, exact) then return exact end
	end
	local functions = found and found.names and (#found.names > 0 and table.concat(found.names, ", ") or nil)
	if not found or found.pc then functions = inlined(vm, one) end
	local where = ("trace %d is past its exit %d"):format(range.number, number)
	top.note = functions and ("%s; since then it may have entered functions that it inlines or calls: %s"):format(where,
		functions)
		or "the innermost line is approximate: " .. where
	return top
end

-- If the trace does not give the valid snapshot, only its start is known.
local function from_trace(vm, L, range, pc, machine_frame)
	local one = range.trace
	local base = vm.g.jit_base[vm.layout.mref]
	if base == 0 then base = xcore.addr(L.base) end
	local number = snapshot.at(vm, one, pc - range.lo)
	local top
	if number then
		top = from_snapshot(
			vm,
			one,
			number,
			base,
			("snapshot %d of trace %d"):format(number, range.number),
			machine_frame
		)
		if is_good(vm, L, top) then return since_snapshot(vm, L, top, range, pc, machine_frame) end
	end
	top = { base = base, pc = one.startpc[vm.layout.mref] + 4, how = ("the beginning of trace %d"):format(range.number), trace = one,
		compiled_from = base - 8 }
	local functions = inlined(vm, one)
	top.note = "the position is the beginning of the trace: this LuaJIT does not record which exit its code belongs to"
		.. (functions and "; it inlines or calls " .. functions or "")
	return top
end

-- A trace is being left: its registers were saved, its stack may not be restored yet.
local function from_exit(vm, L)
	local J = vm.J
	local one = trace.get(vm, J.parent)
	if not one or J.exitno >= one.nsnap then return nil end
	local top = from_snapshot(vm, one, J.exitno, xcore.addr(L.base), ("exit %d of trace %d"):format(J.exitno, J.parent))
	for i, at in ipairs(frame.chain(vm, L)) do
		if i > 2 then break end
		local pc = frame.saved_pc(vm, at)
		if pc and (pc == top.pc or pc == top.pc - 4) then return nil end -- it is restored
	end
	return is_good(vm, L, top) and top or nil
end

-- ---- all ----

local EXIT = ~3

local function look(vm, L)
	local cframe = L.cframe and xcore.addr(L.cframe) & ~3 or 0
	if cframe == 0 then return nil end
	local thread, frames = machine.thread(vm, cframe)
	if not thread then return nil end
	if #frames == 0 then
		local top = frame.saved(vm, L)
		top.note = "its thread is running, so its registers are unknown: the last saved state may be slightly older"
		return top
	end
	local what, index, range, pc = innermost(vm, frames)
	if what == "trace" and vm.g.vmstate ~= EXIT then return from_trace(vm, L, range, pc, frames[index]) end
	if vm.g.vmstate == EXIT then
		local top = from_exit(vm, L)
		if top then return top end
	end
	if what == "assembler" and index == 1 then return from_registers(vm, L, frames[1]) end
end

-- The position of a coroutine, for frame.list: nil if its saved position is right.
function machine.top(vm, L)
	if vm.g.cur_L[vm.layout.ref] ~= xcore.addr(L) then return nil end
	if vm.running_top ~= nil then return vm.running_top or nil end
	local ok, top = pcall(look, vm, L)
	if ok and not vm.t.live then vm.running_top = top or false end -- slow, and called often
	if ok then return top end
	vm:damaged(xcore.addr(L), "its position is unknown: " .. (type(top) == "table" and top.message or tostring(top)))
end

return machine
