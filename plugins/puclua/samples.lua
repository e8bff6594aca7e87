-- samples: Lua frames in the stacks of a profile's samples.
--
-- The interpreter's C frame, with its registers, is of the sample's instant; Lua's calls are on the heap and read
-- later. Where luaV_execute keeps its call, a register or a place in its C frame, is learned: it leads to a call of a
-- Lua function whose code a word of that C frame (the next instruction) points into. That is the proof, too, that the
-- call still runs what it ran; its callers are those of when they are read, which may be a later call. Lua 5.1 keeps no
-- call, but its thread, whose innermost call is as it is now. Lua 5.2 and 5.3 keep the next instruction in the call
-- alone: there a word of the C frame leads to the function's constants, and the innermost line is not known.
--
--	5.2 and later	CallInfo ─previous→ … to the one that begins an interpreter; that of the next C frame is before it
--	5.1		an array; what is between two C functions belongs to one interpreter
--
-- CallInfos have their place for as long as they live: if one is torn, its callers' places are known, and what was in
-- them in many samples, and is there still, was there in this one.
local xcore = require "xcore"
local evaluator = require "lib.evaluator"
local frame = require "puclua.frame"
local layout = require "puclua.layout"
local proto = require "puclua.proto"
local value = require "puclua.value"
local vm_of = require "puclua.vm"

local samples = {}

local unpack = string.unpack

local INTERPRETER = "luaV_execute"
local LUA_CLOSURE = 0x46 -- the tag of a value, from 5.2 on
local MOST = 2000        -- calls
local RECHECK = 256      -- uses of a prototype after which it is looked at again
local SEEN = 100000      -- calls that are kept
local LONG = 8           -- samples

-- ---- functions ----

-- The prototype of the Lua function in a stack slot: { pt, lo, hi (exclusive), places }, and its closure; nil for
-- others.
local function function_in(self, slot)
	local t, at = self.t, self.at
	local closure = t:u64(slot)
	if self.calls_in_array then
		if t:u8(slot + at.tt) ~= layout.FUNCTION or t:u8(closure + at.is_c) ~= 0 then return nil end
	elseif t:u8(slot + at.tt) ~= LUA_CLOSURE then
		return nil
	end
	local addr = t:u64(closure + at.proto)
	local found = self.protos[addr]
	if found and found.used < RECHECK then
		found.used = found.used + 1
		return found, closure
	end
	local lo, source, first = t:u64(addr + at.code), t:u64(addr + at.source), t:u32(addr + at.line)
	if not found or found.lo ~= lo or found.source ~= source or found.first ~= first then
		found = {
			pt = t:value("Proto", addr),
			lo = lo,
			hi = lo + 4 * t:u32(addr + at.size),
			constants = t:u64(addr + at.constants),
			source = source,
			first = first,
			places = {},
		}
		self.protos[addr] = found
	end
	found.used = 0
	return found, closure
end

-- A call as frame.name wants it.
local function as_call(self, call)
	local one, at, pc = call.one, self.at, call.pc
	one.file = one.file or value.source(self.vm, one.pt)
	return {
		fn = call.closure, pt = one.pt, kind = one.first == 0 and "main" or "Lua", defined = one.first, source = one.file,
		pc = pc and (pc - one.lo) // 4 - 1 or nil,
		base = at.base and unpack("<i8", call.bytes, at.base + 1) or call.slot + self.vm.layout.value_size,
	}
end

-- A function's name is what its first caller calls it. Functions of one name in one file are told apart by their lines.
local function title(self, one, call, caller)
	if one.title then return one.title end
	local found = frame.name(self.vm, call, caller)
	local key = found .. "\n" .. one.file
	local other = self.titles[key]
	if other and other ~= one.first then found = ("%s <%d>"):format(found, one.first) end
	if caller or not found:find "^function <" then
		one.title = found
		self.titles[key] = other or one.first
	end
	return found
end

-- The place of a call: { one, closure, pc (of the next instruction, false: unknown), slot, bytes }.
local function place(self, call, caller)
	local one = call.one
	local found = one.places[call.pc or 0]
	if found then return found end
	local this = as_call(self, call)
	local named = title(self, one, this, caller and as_call(self, caller))
	found = self.told:place {
		name = named,
		file = one.file,
		line = this.pc and proto.line(self.vm, one.pt, math.max(this.pc, 0)) or nil,
		kind = "function",
		language = "lua",
	}
	if one.title then one.places[call.pc or 0] = found end
	return found
end

-- ---- calls ----

local function info(self, addr)
	local bytes = self.t:read(addr, self.at.info_size)
	return bytes, unpack("<i8", bytes, self.at.func + 1), unpack("<i8", bytes, self.at.savedpc + 1)
end

local function is_fresh(self, bytes)
	local status, L = unpack(self.at.status_format, bytes, self.at.status + 1), self.vm.layout
	if L.alimit then return status & 1 << 2 ~= 0 end
	if L.counted then return status & 1 << 3 ~= 0 end
	return status & 1 << 2 == 0
end

local function previous(self, addr, bytes)
	if self.calls_in_array then return addr - self.at.info_size end
	return unpack("<i8", bytes, self.at.previous + 1)
end

-- The position of a call, if the interpreter runs it; false: it does, at an unknown one; nil: it does not.
local function position(self, addr, words)
	local _, slot = info(self, addr)
	local one = function_in(self, slot)
	if not one then return nil end
	if not self.position_in_call then return evaluator.points_into(words, one.lo, one.hi + 4) end
	local k = one.constants
	if k ~= 0 and evaluator.points_into(words, k, k + 1) then return false end
	return nil
end

local function is_current(self, addr, words) return position(self, addr, words) ~= nil end

-- The calls of one interpreter from one on, innermost first, to the list of calls. Returns the one before them, nil for
-- none or, with `calls.deep`, too many; or nil and why they are torn. `pc`: the innermost one's position, false:
-- unknown, nil: it waits where it was saved.
local function calls_of(self, addr, pc, calls)
	for _ = 1, MOST do
		if addr == 0 or addr == calls.base then return nil end
		local bytes, slot, saved = info(self, addr)
		local one, closure = function_in(self, slot)
		local before = previous(self, addr, bytes)
		if not one then -- a C function, of the next interpreter
			if self.calls_in_array and #calls > 0 then return addr end
		else
			local call = { at = addr, bytes = bytes, one = one, closure = closure, pc = pc, slot = slot }
			if pc == nil then call.pc = saved end
			calls[#calls + 1] = call
			if pc == nil and (saved < one.lo or saved > one.hi) then return nil, "a position outside its function" end
			pc = nil
			if not self.calls_in_array and is_fresh(self, bytes) then return before end
		end
		addr = before
	end
	calls.deep = true
	return nil
end

local function keep(self, calls)
	for _, call in ipairs(calls) do
		local old = self.seen[call.at]
		call.age = old and old.bytes == call.bytes and old.age + 1 or 1
		if not old then self.seen_count = self.seen_count + 1 end
		self.seen[call.at] = call
	end
	if self.seen_count > SEEN then self.seen, self.seen_count = {}, 0 end
end

local function add(self, calls, list)
	for i, call in ipairs(calls) do list[#list + 1] = place(self, call, calls[i + 1]) end
end

-- The callers of a call that is torn: those that are as they were in each of many samples. Returns the one before them.
local function add_unchanged(self, addr, list)
	local calls, reached = {}, nil
	for _ = 1, MOST do
		if addr == 0 then break end
		local bytes, slot = info(self, addr)
		local one, old = function_in(self, slot), self.seen[addr]
		if one and old and old.age >= LONG and old.bytes == bytes then
			calls[#calls + 1] = old
		elseif one then
			calls = {} -- what is inside of a changed one is not known
		end
		if not self.calls_in_array and one and is_fresh(self, bytes) then
			reached = previous(self, addr, bytes)
			break
		end
		addr = previous(self, addr, bytes)
	end
	list[#list + 1] = 0
	add(self, calls, list)
	return reached
end

-- ---- a frame of a sample ----

-- 5.1: the innermost call of the thread, and where its calls begin.
local function call_of_thread(self, L)
	local ci = self.t:u64(L + self.at.ci)
	return ci, self.t:u64(L + self.at.base_ci)
end

local function is_thread(self, addr)
	local t, at = self.t, self.at
	return t:u8(addr + at.thread_tt) == layout.THREAD and self.states[t:u64(addr + at.state)] ~= nil
end

local function first_call(self, one, words, sample)
	if not self.calls_in_array then return evaluator.find(self.finder, words) end
	local L = evaluator.find(self.finder, words)
	if not L then return nil end
	local ci, base = call_of_thread(self, L)
	sample.base = base
	for _ = 1, MOST do
		if ci <= base then return nil end
		if is_current(self, ci, words) then return ci end
		local _, slot = info(self, ci)
		if function_in(self, slot) then return nil end -- a Lua function that is not the sample's
		ci = ci - self.at.info_size
	end
end

local function step(self, one, sample, list)
	local words = evaluator.words(self.t, one, self.registers)
	if sample.torn then
		if sample.next then sample.next = add_unchanged(self, sample.next, list) end
		return true
	end
	local calls, rest, why = { base = sample.base }, nil, nil
	if sample.next then rest, why = calls_of(self, sample.next, nil, calls) end
	if not why and #calls == 0 then -- the first of its thread
		local addr = first_call(self, one, words, sample)
		if not addr then return true end
		local pc = position(self, addr, words)
		if pc == nil then
			if not self.calls_in_array then
				sample.next = add_unchanged(self, self.t:u64(addr + self.at.previous), list)
			end
			return true
		end
		calls.base = sample.base
		rest, why = calls_of(self, addr, pc, calls)
	end
	if not why then
		add(self, calls, list)
		keep(self, calls)
	end
	sample.next = rest
	if calls.deep then list[#list + 1] = 0 end
	return why or calls.deep
end

-- ---- the beginning ----

local function offsets(vm)
	local function of(type, member) return xcore.offsetof(type, member) end
	local L = vm.layout
	local at = {
		tt = L.tt, func = L.func, info_size = xcore.sizeof "CallInfo", proto = of("LClosure", "p"),
		code = of("Proto", "code"), size = of("Proto", "sizecode"), constants = of("Proto", "k"),
		source = of("Proto", "source"), line = of("Proto", "linedefined"),
		state = of("lua_State", "l_G"), thread_tt = of("lua_State", "tt"),
		ci = of("lua_State", "ci"), base_ci = of("lua_State", "base_ci"),
	}
	if L.array_of_calls then
		at.savedpc, at.base, at.is_c = of("CallInfo", "savedpc"), of("CallInfo", "base"), of("LClosure", "isC")
		return at
	end
	at.savedpc, at.previous, at.status =
		of("CallInfo", "u.l.savedpc"), of("CallInfo", "previous"), of("CallInfo", "callstatus")
	at.base = not L.alimit and of("CallInfo", "u.l.base") or nil
	at.status_format = L.tagged_header and "<I1" or "<I2"
	return at
end

-- A state that the program is changing while it is searched for may not be recognized.
local function vms_of(t)
	local ok, list = pcall(xcore.retry, function()
		local found = vm_of.all(t, true)
		if not found[1] then error { kind = "torn", message = "no Lua state was found" } end
		return found
	end, { tries = 3 })
	return ok and list or {}
end

function samples.begin(t, told)
	local registers = evaluator.registers(t)
	if not registers or not t:has_symbol(INTERPRETER) then
		error(
			xcore.error(
				"unsupported",
				"frames of Lua in samples: only where luaV_execute has a name, on x86-64 and aarch64"
			)
		)
	end
	local vms = vms_of(t)
	if not vms[1] then return nil end
	local self = {
		t = t, told = told, vm = vms[1], at = offsets(vms[1]), registers = registers,
		states = {}, protos = {}, titles = {}, seen = {}, seen_count = 0,
		calls_in_array = vms[1].layout.array_of_calls,
		position_in_call = not vms[1].layout.array_of_calls and not vms[1].layout.alimit,
	}
	for _, vm in ipairs(vms) do self.states[vm.addr] = vm end
	self.finder = evaluator.finder(function(addr, words)
		if self.calls_in_array then return is_thread(self, addr) end
		return is_current(self, addr, words)
	end, not self.calls_in_array and function(addr) return t:u64(addr + self.at.previous) end or nil)
	evaluator.watch(t, told, INTERPRETER)
	return evaluator.sampler(function(one, sample, list) return step(self, one, sample, list) end)
end

return samples
