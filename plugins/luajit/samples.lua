-- samples: Lua frames in the stacks of a profile's samples.
--
-- The registers and the C stack of a sample are those of its instant; Lua's stack is read later, in one read. What can
-- be proved is told:
--
--	interpreter	BASE and PC are in registers, the coroutine is in the VM's frame on the C stack
--	C		the base is the one saved in the coroutine now, the position that in the VM's frame
--	trace		the base is the one saved in the VM now; the snapshot before the PC gives inlined frames
--
-- Callers are those of when they are read, which may be a later call of the same function.
--
-- The innermost position must be in the function that is at the base, and frames must lead from there to the bottom of
-- the stack. Else the program has gone on since: the stack is torn, and only what registers told is of the sample.
--
-- What never changes is kept: a position in bytecode is a place, a range of machine code a trace. Bytecode and traces
-- can be freed, so both are looked at again.
local xcore = require "xcore"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local lua_stack = require "luajit.sample_stack"
local machine = require "luajit.machine"
local places = require "luajit.sample_places"
local stacks = require "luajit.stacks"
local traces = require "luajit.sample_traces"
local vm_of = require "luajit.vm"

local samples = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local NEAR, REACH = 4, 80 -- words from the stack pointer to the VM's frame
local MEMORIES = 64       -- VM's frames, after which those that were not used for as many are forgotten
local RENEW = 20000       -- frames after which what may not live any more is forgotten

-- ---- virtual machines ----

local function offsets()
	local function of(type, member) return xcore.offsetof(type, member) end
	return {
		gct = of("lua_State", "gct"), glref = of("lua_State", "glref"), base = of("lua_State", "base"),
		stack = of("lua_State", "stack"), maxstack = of("lua_State", "maxstack"), thread_size = xcore.sizeof "lua_State",
		jit_base = of("global_State", "jit_base"), ffid = of("GCfuncC", "ffid"), kind = of("GCfuncC", "gct"),
		pc = of("GCfuncL", "pc"), code = of("GCfuncC", "f"),
		startpc = of("GCtrace", "startpc"), mcode = of("GCtrace", "mcode"), szmcode = of("GCtrace", "szmcode"),
		dispatch = of("GG_State", "dispatch") - of("GG_State", "g"),
		traces = of("jit_State", "trace"), trace_count = of("jit_State", "sizetrace"),
	}
end

local function watch(self, lo, hi)
	if self.assembler[lo] then return end
	self.assembler[lo] = hi
	self.told:watch(lo, hi)
	self.told:code { lo = lo, hi = hi, name = "(LuaJIT's interpreter)" }
end

-- What is kept of a VM.
local function known(self, vm)
	self.offsets = self.offsets or offsets()
	local kept = {
		vm = vm, places = {}, protos = {}, by_function = {}, builtins = {}, sizes = {}, traces = {}, ranges = {}, inside = {},
		J = vm.J and xcore.addr(vm.J),
	}
	self.vms[vm.addr] = kept
	watch(self, machine.assembler(vm))
	return kept
end

local function in_assembler(self, addr)
	for lo, hi in pairs(self.assembler) do
		if addr >= lo and addr <= hi then return true end
	end
end

-- The VM with its state at an address; proved once.
local function vm_at(self, g)
	local kept = self.vms[g]
	if kept == nil then
		local ok, vm = pcall(vm_of.one, self.t, g)
		kept = ok and known(self, vm) or false
		self.vms[g] = kept
	end
	return kept or nil
end

-- The VM of a thread object, if there is one at this address, and the object's bytes.
local function vm_of_thread(self, L)
	local at, bytes = self.offsets, nil
	if self.threads[L] then
		bytes = self.t:read(L, at.thread_size)
	elseif L & 7 == 0 and L > 4096 and L <= POINTER then
		local ok, read = pcall(self.t.read, self.t, L, at.thread_size)
		bytes = ok and read
	end
	if not bytes or bytes:byte(at.gct + 1) ~= layout.THREAD then return nil end
	local g = unpack("<i8", bytes, at.glref + 1)
	if g & 7 ~= 0 or g < 4096 or g > POINTER then return nil end
	local kept = vm_at(self, g)
	if kept then self.threads[L] = true end
	return kept, bytes
end

-- ---- the VM's frame on the C stack ----

-- Its address, the VM, the thread object, and its bytes. `where`: if it is known.
local function vm_frame(self, sp, where)
	local offset = self.cframe.L
	if where then
		local L = self.t:u64(where + offset)
		local kept, bytes = vm_of_thread(self, L)
		return kept and where, kept, L, bytes
	end
	local words = self.t:read(sp + offset, 8 * NEAR)
	for n = 0, REACH do
		local L = n < NEAR and unpack("<i8", words, 8 * n + 1) or self.t:u64(sp + 8 * n + offset)
		if n < NEAR or self.threads[L] then
			local kept, bytes = vm_of_thread(self, L)
			if kept then return sp + 8 * n, kept, L, bytes end
		end
	end
end

-- The rules for the assembler's code, where its own are wrong.
local function correct(self, one, at)
	local cfa = at + self.cframe.size
	if self.t.arch ~= "x86-64" or one.cfa == cfa or self.corrected[one.at] == cfa - one.sp then return end
	self.corrected[one.at] = cfa - one.sp
	self.told:code { lo = one.at, hi = one.at, override = true, cfa = { "rsp", cfa - one.sp }, saved = stacks.SAVED }
end

-- ---- a frame of a sample ----

-- The place of what the sample's registers tell, if the rest is torn.
local function only(self, kept, pc, list)
	for n = #list, 1, -1 do list[n] = nil end
	list[1] = pc and places.at_position(self, kept, pc)
end

-- Walks from a base, if that leads to the bottom.
local function try(self, kept, L, stack, base, pc, list, callee)
	local before = #list
	local ok, rest, record, why = pcall(lua_stack.walk, self, kept, L, stack, base - 8, pc, list, true, callee)
	if ok and record then return rest, record end
	for n = #list, before + 1, -1 do list[n] = nil end
	return nil, nil, ok and why or rest
end

-- What the trace has inlined is known by its code.
local function walk_trace(self, kept, L, stack, one, addr, list)
	local base = self.t:u64(kept.vm.addr + self.offsets.jit_base)
	local inside = traces.inside(kept, one, addr)
	for i = 1, #inside - 1 do
		local each, caller = inside[i], inside[i + 1]
		local of = places.of_function(self, kept, each.func, each.pc)
		if not of then return nil, nil, "an inlined function is gone" end
		local by = i + 1 < #inside and places.of_function(self, kept, caller.func, caller.pc) or nil
		list[#list + 1] = places.at(self, kept, of, each.pc, by, caller.pc, caller.func)
	end
	local own = inside[#inside].pc
	if base > stack then
		local rest, record = try(self, kept, L, stack, base, own, list)
		if record then return rest, record end
	end
	list[#list + 1] = places.at_position(self, kept, own)
	return nil, nil, "the trace was left"
end

-- In the interpreter: the base may be in another register while a call is made. The first that is proved.
local BASES = { "rdx", "rcx", "rax", "rbp", "rsi", "rdi" }

local function walk_interpreter(self, kept, L, stack, max, saved, one, list)
	local pc = one:register "rbx"
	for i = 1, #BASES + 1 do
		local base = saved
		if BASES[i] then base = one:register(BASES[i]) end
		if base and base > stack and base <= max and base & 7 == 0 then
			local rest, record = try(self, kept, L, stack, base, pc, list)
			if record then return rest, record end
		end
	end
	only(self, kept, pc, list)
	return nil, nil, "its function has returned"
end

local function saved_position(self, at, L)
	local pc = self.t:u64(at + self.cframe.pc)
	return pc ~= L and pc ~= 0 and pc or nil
end

-- Below a C function that the VM called: the position is in the VM's frame, if it was saved at all.
local function walk_c(self, kept, L, stack, at, base, one, list)
	return try(self, kept, L, stack, base, saved_position(self, at, L), list, one.callee)
end

local function trace_of(self, one)
	local dispatch = one:register "r14"
	local kept = dispatch and vm_at(self, dispatch - self.offsets.dispatch)
	if kept then return kept, traces.at(self, kept, one.at) end
	for _, other in pairs(self.vms) do
		local found = other and traces.at(self, other, one.at)
		if found then return other, found end
	end
end

-- Lua's frames in one of the VM's, to the list: where they go on, and their record; or nil, nil and why they are torn.
local function add_frames(self, one, walks, at, kept, L, bytes, compiled, list)
	local offsets = self.offsets
	local stack, base = unpack("<i8", bytes, offsets.stack + 1), unpack("<i8", bytes, offsets.base + 1)
	local before = walks[L]
	if before then return lua_stack.walk(self, kept, L, stack, before, nil, list) end
	if before == false then return nil, nil, "Lua has entered fewer VMs" end
	if compiled then return walk_trace(self, kept, L, stack, compiled, one.at, list) end
	if one.index > 0 then return walk_c(self, kept, L, stack, at, base, one, list) end
	return walk_interpreter(self, kept, L, stack, unpack("<i8", bytes, offsets.maxstack + 1) + 64 * 8, base, one, list)
end

-- What is remembered of a VM's frame.
local function memory_of(self, at)
	local found = self.memories[at]
	if found then return found end
	if self.memory_count == MEMORIES then
		self.older, self.memories, self.memory_count = self.memories, {}, 0
	end
	found = self.older[at] or lua_stack.memory()
	self.memories[at], self.memory_count = found, self.memory_count + 1
	return found
end

-- The frames of a torn stack that are known nevertheless.
local function add_steady(self, one, at, kept, L, stack, compiled, list)
	local base, pc = math.maxinteger, nil
	if compiled then
		local inside = traces.inside(kept, compiled, one.at)
		pc = inside[#inside].pc
	elseif one.index == 0 then
		pc = one:register "rbx"
		local sampled = one:register "rdx" or 0
		if sampled > stack and sampled - stack < 1 << 20 then base = sampled - 8 end
	else
		pc = saved_position(self, at, L)
		list[1] = pc and places.at_position(self, kept, pc)
		if not list[1] then pc = nil end
	end
	lua_stack.steady(self, kept, memory_of(self, at), L, stack, pc, base, list)
end

local TORN = "torn" -- instead of where a thread's frames go on

-- What is read may be gone: then it is torn.
local function step(self, one, sample, list)
	local sp, expected, compiled = one.sp, nil, nil
	if not sp then return nil end
	if not in_assembler(self, one.at) then
		expected, compiled = trace_of(self, one)
		if not compiled then return nil end
	end
	local where = compiled and sp + compiled.trace.spadjust + stacks.SIZE_IN_TRACE - self.cframe.size
	local at, kept, L, bytes = vm_frame(self, sp, where)
	if not at or (expected and kept ~= expected) then return true end
	if not compiled then correct(self, one, at) end
	local stack, walks = unpack("<i8", bytes, self.offsets.stack + 1), sample.walks or {}
	sample.walks = walks
	if walks[L] == TORN then
		local ok, rest =
			lua_stack.waiting(self, kept, memory_of(self, at), L, stack, saved_position(self, at, L), list, one.callee)
		if ok then walks[L] = rest or false else list[#list + 1] = 0 end
		return not ok or nil
	end
	local rest, record = add_frames(self, one, walks, at, kept, L, bytes, compiled, list)
	if record then
		walks[L] = rest or false
		lua_stack.keep(memory_of(self, at), record)
		return record.deep
	end
	walks[L] = TORN
	add_steady(self, one, at, kept, L, stack, compiled, list)
	return true
end

-- ---- the beginning ----

-- Coroutines and functions come and go: what is kept of them by their addresses is found again.
local function renew(self)
	self.threads = {}
	for _, kept in pairs(self.vms) do
		if kept then kept.by_function, kept.inside = {}, {} end
	end
	for g, kept in pairs(self.vms) do
		if not kept then self.vms[g] = nil end -- it may have been incomplete
	end
end

-- The VMs that there are. There may be none yet, but code that says where it is, and debug information of what it works
-- on.
local function vms_of(self)
	local ok, list = pcall(stacks.quick, self.t)
	if ok then return list end
	local code = self.t:has_symbol "lj_vm_asm_begin" and self.t:symbol "lj_vm_asm_begin".addr
	local lo, hi = self.t:code_range(code or 0)
	if not lo or not layout.known(self.t) then error(list, 0) end
	self.offsets = offsets()
	self.cframe = frame.cframes { t = self.t, layout = layout.of(self.t) }
	watch(self, lo, hi)
	return {}
end

-- What runs now is known before the first sample, which would have to wait for it.
local function prepare(self, kept)
	traces.renew(self, kept)
	local list = frame.list(kept.vm, require("luajit.coroutine").running(kept.vm))
	for i, one in ipairs(list) do
		local it = one.lua and places.of_function(self, kept, one.func, one.pc)
		local caller = it
			and list[i + 1]
			and list[i + 1].lua
			and places.of_function(self, kept, list[i + 1].func, list[i + 1].pc)
		if it then places.at(self, kept, it, one.pc, caller, caller and list[i + 1].pc, caller and list[i + 1].func) end
	end
end

function samples.begin(t, told)
	local self =
		{ t = t, told = told, vms = {}, assembler = {}, threads = {}, corrected = {}, titles = {}, nameless = {}, twins = {},
			entries = {} }
	self.memories, self.older, self.memory_count = {}, {}, 0
	for _, vm in ipairs(vms_of(self)) do
		self.cframe = self.cframe or frame.cframes(vm)
		if not self.cframe or vm.layout.fr2 ~= 1 or t.arch ~= "x86-64" then
			error(xcore.error("unsupported", "frames of LuaJIT in samples: on x86-64 with 64-bit references only"))
		end
		pcall(prepare, self, known(self, vm)) -- it runs meanwhile
	end
	local calls = 0
	return function(one, sample)
		local list = {}
		local ok, torn = pcall(step, self, one, sample, list)
		calls = calls + 1
		if calls % RENEW == 0 then renew(self) end
		return list, not ok or torn
	end
end

return samples
