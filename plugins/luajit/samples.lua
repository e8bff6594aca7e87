-- samples: Lua frames in the stacks of a profile's samples.
--
-- The registers and the C stack of a sample are those of its instant; Lua's stack is read later, in one read. What can
-- be proved is told:
--
--	interpreter	BASE and PC are in registers, the coroutine is in the VM's frame on the C stack
--	C		the base is the one saved in the coroutine now, the position that in the VM's frame
--	trace		the base is the one saved in the VM now; the snapshot before the PC gives inlined frames
--
-- The innermost position must be in the function that is at the base, and frames must lead from there to the bottom of
-- the stack. Else the program has gone on since: the stack is torn, and only what registers told is of the sample.
--
-- What never changes is kept: a position in bytecode is a place, a range of machine code a trace. Bytecode and traces
-- can be freed, so both are looked at again.
local xcore = require "xcore"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local machine = require "luajit.machine"
local name = require "luajit.name"
local proto = require "luajit.proto"
local snapshot = require "luajit.snapshot"
local stacks = require "luajit.stacks"
local trace = require "luajit.trace"
local vm_of = require "luajit.vm"

local samples = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local LUA, C, CONT, VARG = 0, 1, 2, 3 -- kinds of frames (frame.lua)
local CALLBACK = 1
local NEAR, REACH = 4, 80 -- words from the stack pointer to the VM's frame
local MOST = 2000         -- frames
local RECHECK = 256       -- uses of a prototype after which it is looked at again
local ASSUMED = 1 << 32   -- an address that stands for the base of a trace

-- ---- virtual machines ----

local function offsets(vm)
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

-- What is kept of a VM.
local function known(self, vm)
	self.offsets = self.offsets or offsets(vm)
	local kept = {
		vm = vm, places = {}, protos = {}, by_function = {}, builtins = {}, codes = {}, traces = {}, ranges = {}, inside = {},
		J = vm.J and xcore.addr(vm.J),
	}
	self.vms[vm.addr] = kept
	local lo, hi = machine.assembler(vm)
	if not self.assembler[lo] then
		self.assembler[lo] = hi
		self.told:watch(lo, hi)
	end
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
	self.told:code { lo = one.at, hi = one.at, override = true, name = one.name or "(LuaJIT's interpreter)",
		cfa = { "rsp", cfa - one.sp }, saved = stacks.SAVED }
end

-- ---- prototypes and places ----

-- The prototype whose bytecode begins at `lo`: { lo, hi (exclusive), pt, used }.
local function prototype(kept, lo)
	local found = kept.protos[lo]
	if found and found.used < RECHECK then
		found.used = found.used + 1
		return found
	end
	local vm = kept.vm
	local ok, one = pcall(function()
		local pt = vm.t:value("GCproto", lo - xcore.sizeof "GCproto")
		if pt.gct ~= layout.PROTO then return nil end
		return { lo = lo, hi = lo + pt.sizebc * 4, pt = pt, used = 0, source = pt.chunkname[vm.layout.ref], first = pt.firstline }
	end)
	if not ok or not one then return nil end
	if found and found.hi == one.hi and found.source == one.source and found.first == one.first then
		found.used = 0
		return found
	end
	for pc in pairs(kept.places) do -- another one was here
		if pc >= lo and pc <= one.hi then kept.places[pc] = nil end
	end
	kept.protos[lo] = one
	return one
end

-- The prototype of a Lua function; nil for others, and for what is no function.
local function prototype_of(self, kept, func, pc)
	local lo = kept.by_function[func]
	local one = lo and pc and prototype(kept, lo)
	if one and pc >= one.lo and pc <= one.hi then return one end
	local at, t = self.offsets, self.t
	if func < 4096 or t:u8(func + at.kind) ~= layout.FUNCTION or t:u8(func + at.ffid) ~= 0 then return nil end
	lo = t:u64(func + at.pc)
	one = prototype(kept, lo)
	kept.by_function[func] = one and lo
	return one
end

-- A function's name is what its first caller calls it. Functions of one name in one file are told apart by their lines.
local function title_of(self, kept, one, what)
	if one.title then return one.title end
	local title, key = what.title, what.title .. "\n" .. (what.file or "")
	local other = self.titles[key]
	if other and other ~= one and what.defined then title = ("%s <%d>"):format(title, what.defined) end
	if what.called_name or what.kind ~= "Lua" then
		one.title = title
		self.titles[key] = other or one
	end
	return title
end

-- A frame as frame.describe wants it.
local function as_frame(kept, one, pc)
	local pos = pc and proto.position(one.pt, pc)
	return { pt = one.pt, lua = true, ffid = 0, pos = pos and (pos > 0 and pos - 1 or 0) or nil }
end

-- The place of a position in a Lua function; pc nil: unknown.
local function place(self, kept, one, pc, caller, caller_pc)
	local key = pc or one.lo
	local found = kept.places[key]
	if found then return found end
	local named = as_frame(kept, one, pc)
	local what = frame.describe(kept.vm, named, caller and as_frame(kept, caller, caller_pc))
	found = self.told:place {
		name = title_of(self, kept, one, what), file = what.file, line = what.line, kind = what.kind == "builtin" and "builtin" or "function",
		language = "lua",
	}
	if one.title or caller then kept.places[key] = found end
	return found
end

-- The place of a position by itself, if its prototype is known.
local function place_of_position(self, kept, pc)
	for lo, one in pairs(kept.protos) do
		if pc > lo and pc <= one.hi then return prototype(kept, lo) == one and place(self, kept, one, pc) or nil end
	end
end

-- The place of a function that is not Lua's: by its code, as its address may be that of another one tomorrow.
local function place_of_builtin(self, kept, func)
	local at, t = self.offsets, self.t
	if func < 4096 or t:u8(func + at.kind) ~= layout.FUNCTION then return nil end
	local ffid, code = t:u8(func + at.ffid), t:u64(func + at.code)
	local key = ffid > 1 and ffid or code
	local found = kept.builtins[key]
	if not found then
		local what = frame.describe(kept.vm, { lua = false, ffid = ffid, func = func })
		found = self.told:place { name = what.title, kind = what.kind, language = "lua" }
		kept.builtins[key] = found
	end
	return found
end

-- ---- Lua's stack ----

-- How much a call's instruction is above its frame.
local function delta(kept, pc)
	local found = kept.codes[pc]
	if not found then
		found = (2 + kept.vm.t:u8(pc - 3)) * 8
		kept.codes[pc] = found
	end
	return found
end

-- Where the function begins that an address is in.
local function entry_of(self, addr)
	local found = self.entries[addr]
	if found == nil then
		found = addr and self.t:code_range(addr) or false
		self.entries[addr] = found
	end
	return found
end

-- Does the innermost frame agree with the sample? The position of a Lua function is in it, or where a call of it, or a
-- return from it, leads; what is not Lua's was called from there, or is the function that runs.
local function agrees(self, one, func, link, pc, callee)
	if one and pc and pc >= one.lo and pc <= one.hi then return true end
	if pc == link then return true end
	if not one and pc and self.t:u64(func + self.offsets.pc) + 4 == pc then return true end -- at its entry
	return not one and callee and self.t:u64(func + self.offsets.code) == entry_of(self, callee)
end

-- Frames from `f` to the bottom of the stack, or to where C called Lua. `pc`: the position in the innermost one, if
-- it is known. `proof`: it must agree with the sample, in which the VM called what `callee` is in. Adds places to the
-- list. Returns where to go on, nil at the bottom; or nil and why it is torn.
local function walk(self, kept, L, stack, f, pc, list, proof, callee)
	local bottom = stack + 8
	if f < bottom or f - stack > 1 << 20 or f & 7 ~= 0 then return nil, "its base is outside its stack" end
	local chunk = self.t:read(stack, f + 8 - stack)
	local function word(at) return unpack("<i8", chunk, at - stack + 1) end
	local waiting, waiting_pc -- a function whose caller is not known yet
	local varargs = false
	for _ = 1, MOST do
		if f == bottom then break end
		if f < bottom + 8 then return nil, "its last frame reaches below its stack" end
		local link, func = word(f), word(f - 8) & POINTER
		local kind = link & 3
		local one
		if not varargs and func ~= L then
			one = prototype_of(self, kept, func, pc)
			if proof and not agrees(self, one, func, link, pc, callee) then return nil, "its function has returned" end
			if one and pc and (pc < one.lo or pc > one.hi) then
				if not proof then return nil, "a position outside its function" end
				pc = nil -- it is being entered or left
			end
			if waiting then list[#list + 1] = place(self, kept, waiting, waiting_pc, one, pc) end
			waiting, waiting_pc = one, pc
			if not one then
				local found = place_of_builtin(self, kept, func)
				-- A builtin puts its result where it was itself.
				if not found and not (proof and pc == link) then return nil, "what is called is no function" end
				list[#list + 1] = found
			end
		end
		varargs, proof = link & 7 == VARG, false
		local below
		if kind == LUA then
			if link < 4096 or link > POINTER then return nil, "a link that is none" end
			pc, below = link, f - delta(kept, link)
		else
			pc, below = nil, f - (link & ~7)
			if link & 7 == CONT and f >= bottom + 24 and word(f - 24 + 8) ~= CALLBACK then pc = word(f - 16) end
		end
		if below >= f then return nil, "a frame of a wrong size" end
		f = below
		if kind == C then
			if waiting then list[#list + 1] = place(self, kept, waiting, waiting_pc) end
			return f
		end
	end
	if waiting then list[#list + 1] = place(self, kept, waiting, waiting_pc) end
	return nil
end

-- ---- traces ----

-- Reads the traces that are new. True: there are some.
local function renew_traces(self, kept)
	local vm, at, t = kept.vm, self.offsets, self.t
	local J = kept.J
	if not J then return false end
	local count, array = t:u32(J + at.trace_count), t:u64(J + at.traces)
	if count < 2 or count > 65536 then return false end
	local bytes, new = t:read(array, count * 8), false
	for number = 1, count - 1 do
		local addr = unpack("<i8", bytes, 8 * number + 1)
		local old = kept.traces[number]
		if addr ~= 0 and (not old or old.addr ~= addr) then
			local ok, one = pcall(trace.get, vm, number)
			local lo = ok and one and t:u64(addr + at.mcode) or 0
			local size = lo ~= 0 and t:u32(addr + at.szmcode) or 0
			if size > 0 and size < 1 << 24 then
				kept.traces[number] = { number = number, addr = addr, trace = one, lo = lo, hi = lo + size - 1, startpc = t:u64(addr + at.startpc) }
				stacks.tell_trace(vm, self.told, kept.traces[number])
				new = true
			end
		end
	end
	if new then
		kept.ranges = {}
		for _, one in pairs(kept.traces) do kept.ranges[#kept.ranges + 1] = one end
		table.sort(kept.ranges, function(a, b) return a.lo < b.lo end)
	end
	return new
end

local function range_at(kept, addr)
	local list = kept.ranges
	local lo, hi = 1, #list
	while lo <= hi do
		local mid = (lo + hi) // 2
		local one = list[mid]
		if addr < one.lo then
			hi = mid - 1
		elseif addr > one.hi then
			lo = mid + 1
		else
			return one
		end
	end
end

-- Is it still there?
local function is_same(self, kept, one)
	local at, t = self.offsets, self.t
	local array = t:u64(kept.J + at.traces)
	if t:u64(array + 8 * one.number) == one.addr and t:u64(one.addr + at.mcode) == one.lo and t:u64(one.addr + at.startpc) == one.startpc then
		return true
	end
	kept.traces[one.number] = nil
	kept.ranges, kept.inside = {}, {}
	for _, other in pairs(kept.traces) do kept.ranges[#kept.ranges + 1] = other end
	table.sort(kept.ranges, function(a, b) return a.lo < b.lo end)
	return false
end

-- The trace at an address, of this VM or, if none is given, of any.
local function trace_at(self, kept, addr)
	for _ = 1, 2 do
		local one = range_at(kept, addr)
		if one and is_same(self, kept, one) then return one end
		if not renew_traces(self, kept) then return nil end
	end
end

-- The frames that a trace has inlined at a place of its code, and the position in its own: from the last snapshot. The
-- same for every base: { { func, pc }, … }, innermost first; the last is its own.
local function frames_inside(kept, one, addr)
	local found = kept.inside[addr]
	if found then return found end
	local vm = kept.vm
	local ok, list = pcall(function()
		local number = snapshot.at(vm, one.trace, addr - one.lo)
		local snap = snapshot.read(vm, one.trace, number)
		local slots, inner = snapshot.slots(vm, one.trace, snap, ASSUMED)
		local all, pc = {}, snap.pc + 4
		for _, each in ipairs(frame.inlined(vm, slots, inner - 8, ASSUMED - 8, true)) do
			all[#all + 1] = { func = each.func, pc = pc, at = each.at }
			pc = each.link
		end
		return all
	end)
	found = ok and #list > 0 and list or { { pc = one.startpc + 4, at = ASSUMED - 8, unsure = true } }
	kept.inside[addr] = found
	return found
end

-- What the trace has inlined is known by its code.
local function walk_trace(self, kept, L, stack, one, addr, list)
	local base = self.t:u64(kept.vm.addr + self.offsets.jit_base)
	local inside = frames_inside(kept, one, addr)
	for i = 1, #inside - 1 do
		local each, caller = inside[i], inside[i + 1]
		local of = prototype_of(self, kept, each.func, each.pc)
		if not of then return nil, "an inlined function is gone" end
		list[#list + 1] = place(self, kept, of, each.pc, i + 1 < #inside and prototype_of(self, kept, caller.func, caller.pc) or nil, caller.pc)
	end
	local own, count = inside[#inside].pc, #list
	local rest, why = nil, "the trace was left"
	if base > stack then rest, why = walk(self, kept, L, stack, base - 8, own, list, true) end
	if not why then return rest end
	for n = #list, count + 1, -1 do list[n] = nil end
	list[#list + 1] = place_of_position(self, kept, own)
	return nil, why
end

-- ---- a frame of a sample ----

-- In the interpreter: the base may be in another register while a call is made. The first that is proved.
local BASES = { "rdx", "rcx", "rax", "rbp", "rsi", "rdi" }

local function walk_interpreter(self, kept, L, stack, max, saved, one, list)
	local pc, why = one:register "rbx", nil
	for i = 0, #BASES do
		local base = i < #BASES and one:register(BASES[i + 1]) or i == #BASES and saved
		if base and base > stack and base <= max and base & 7 == 0 then
			for n = #list, 1, -1 do list[n] = nil end
			local rest, reason = walk(self, kept, L, stack, base - 8, pc, list, true)
			if not reason then return rest end
			why = why or reason
		end
	end
	for n = #list, 1, -1 do list[n] = nil end
	list[1] = pc and place_of_position(self, kept, pc)
	return nil, why or "no base"
end

local function saved_position(self, at, L)
	local pc = self.t:u64(at + self.cframe.pc)
	return pc ~= L and pc ~= 0 and pc or nil
end

-- Below a C function that the VM called: the position is in the VM's frame, if it was saved at all.
local function walk_c(self, kept, L, stack, at, base, one, list)
	return walk(self, kept, L, stack, base - 8, saved_position(self, at, L), list, true, one.callee)
end

local function trace_of(self, one)
	local dispatch = one:register "r14"
	local kept = dispatch and vm_at(self, dispatch - self.offsets.dispatch)
	if kept then return kept, trace_at(self, kept, one.at) end
	for _, other in pairs(self.vms) do
		local found = other and trace_at(self, other, one.at)
		if found then return other, found end
	end
end

-- Lua's frames in one of the VM's, to the list; or why they are torn.
local function add_frames(self, one, sample, at, kept, L, bytes, compiled, list)
	local offsets, walks = self.offsets, sample.walks
	local stack, base = unpack("<i8", bytes, offsets.stack + 1), unpack("<i8", bytes, offsets.base + 1)
	local before, rest, why = walks[L], nil, nil
	walks[L] = false -- until it is known better
	if before then
		rest, why = walk(self, kept, L, stack, before, nil, list)
	elseif before == false then
		return "Lua has entered fewer VMs"
	elseif compiled then
		rest, why = walk_trace(self, kept, L, stack, compiled, one.at, list)
	elseif one.index == 0 then
		local max = unpack("<i8", bytes, offsets.maxstack + 1) + 64 * 8
		rest, why = walk_interpreter(self, kept, L, stack, max, base, one, list)
	else
		rest, why = walk_c(self, kept, L, stack, at, base, one, list)
	end
	if rest and not why then walks[L] = rest end
	return why
end

-- What is read may be gone: then it is torn, and so is everything that called it.
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
	sample.walks = sample.walks or {}
	return sample.torn or add_frames(self, one, sample, at, kept, L, bytes, compiled, list)
end

-- ---- the beginning ----

-- What runs now is known before the first sample, which would have to wait for it.
local function prepare(self, kept)
	renew_traces(self, kept)
	local list = frame.list(kept.vm, require("luajit.coroutine").running(kept.vm))
	for i, one in ipairs(list) do
		local it = one.lua and prototype_of(self, kept, one.func, one.pc)
		local caller = it and list[i + 1] and list[i + 1].lua and prototype_of(self, kept, list[i + 1].func, list[i + 1].pc)
		if it then place(self, kept, it, one.pc, caller, caller and list[i + 1].pc) end
	end
end

function samples.begin(t, told)
	local self = { t = t, told = told, vms = {}, assembler = {}, threads = {}, corrected = {}, titles = {}, entries = {} }
	for _, vm in ipairs(stacks.quick(t)) do
		self.cframe = self.cframe or frame.cframes(vm)
		if not self.cframe or vm.layout.fr2 ~= 1 or t.arch ~= "x86-64" then
			error(xcore.error("unsupported", "frames of LuaJIT in samples: on x86-64 with 64-bit references only"))
		end
		pcall(prepare, self, known(self, vm)) -- it runs meanwhile
	end
	return function(one, sample)
		local list = {}
		local ok, torn = pcall(step, self, one, sample, list)
		torn = not ok or torn
		sample.torn = sample.torn or torn
		return list, torn
	end
end

return samples
