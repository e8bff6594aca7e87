-- sample_stack: Lua's stack as it is soon after a sample, and the proof that it is that of the sample (samples.lua).
local places = require "luajit.sample_places"

local stacks = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local LUA, C, CONT, VARG = 0, 1, 2, 3 -- kinds of frames (frame.lua)
local CALLBACK = 1
local MOST = 2000 -- frames
local KEPT = 64   -- stacks of a VM's frame

-- How far the frame that a call's instruction makes is above that of its function.
local function size_of_call(kept, pc)
	local found = kept.sizes[pc]
	if not found then
		found = (2 + kept.vm.t:u8(pc - 3)) * 8
		kept.sizes[pc] = found
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
-- list. Returns where to go on, nil at the bottom, and a record of the frames, in which `deep` says that there are
-- more; or nil, nil and why it is torn.
function stacks.walk(self, kept, L, stack, f, pc, list, proof, callee)
	local bottom = stack + 8
	if f < bottom or f - stack > 1 << 20 or f & 7 ~= 0 then return nil, nil, "its base is outside its stack" end
	local chunk = self.t:read(stack, f + 8 - stack)
	local function word(at) return unpack("<i8", chunk, at - stack + 1) end
	local waiting, waiting_pc -- a function whose caller is not known yet
	local varargs, record =
		false, { L = L, stack = stack, list = list, first = #list, at = {}, links = {}, functions = {}, protos = {} }
	for _ = 1, MOST do
		if f == bottom then break end
		if f < bottom + 8 then return nil, nil, "its last frame reaches below its stack" end
		local link, func = word(f), word(f - 8) & POINTER
		local kind = link & 3
		local one
		if not varargs and func ~= L then
			one = places.of_function(self, kept, func, pc)
			if proof and not agrees(self, one, func, link, pc, callee) then
				return nil, nil, "its function has returned"
			end
			if one and pc and (pc < one.lo or pc > one.hi) then
				if not proof then return nil, nil, "a position outside its function" end
				pc = nil -- it is being entered or left
			end
			if waiting then list[#list + 1] = places.at(self, kept, waiting, waiting_pc, one, pc, func) end
			waiting, waiting_pc = one, pc
			if not one then
				local found = places.of_builtin(self, kept, func)
				-- A builtin puts its result where it was itself.
				if not found and not (proof and pc == link) then return nil, nil, "what is called is no function" end
				list[#list + 1] = found
			end
			if one or #list > record.first then
				local n = #record.at + 1
				record.at[n], record.links[n], record.functions[n], record.protos[n] = f, link, func, one or false
			end
		end
		varargs, proof = link & 7 == VARG, false
		local below
		if kind == LUA then
			if link < 4096 or link > POINTER then return nil, nil, "a link that is none" end
			pc, below = link, f - size_of_call(kept, link)
		else
			pc, below = nil, f - (link & ~7)
			if link & 7 == CONT and f >= bottom + 24 and word(f - 24 + 8) ~= CALLBACK then pc = word(f - 16) end
		end
		if below >= f then return nil, nil, "a frame of a wrong size" end
		f = below
		if kind == C then
			if waiting then list[#list + 1] = places.at(self, kept, waiting, waiting_pc) end
			return f, record
		end
	end
	if waiting then list[#list + 1] = places.at(self, kept, waiting, waiting_pc) end
	if f == bottom then return nil, record end
	list[#list + 1] = 0
	record.deep = true
	return nil, record
end

-- ---- torn stacks ----

-- What is remembered of one of the VM's frames on the C stack: stacks, one for each innermost function and the call of
-- it.
function stacks.memory() return { by = {}, count = 0 } end

function stacks.keep(memory, record)
	if #record.at == 0 then return end
	local key = record.functions[1] ~ record.links[1] << 1
	if not memory.by[key] then memory.count = memory.count + 1 end
	if memory.count > KEPT then memory.by, memory.count = {}, 1 end
	memory.by[key] = record
end

local function is_there(self, record, i)
	local t, f = self.t, record.at[i]
	return t:u64(f) == record.links[i] and t:u64(f - 8) & POINTER == record.functions[i]
end

-- The outermost frame of a record that runs the function of a position, counted from the outermost one of all, 1.
local function place_of(record, pc)
	for i = #record.protos, 1, -1 do
		local one = record.protos[i]
		if one and pc > one.lo and pc <= one.hi then return #record.protos - i + 1 end
	end
end

local function is_same(a, b, from_outside)
	local n, m = #a.at - from_outside + 1, #b.at - from_outside + 1
	return m > 0 and n > 0 and a.at[n] == b.at[m] and a.links[n] == b.links[m] and a.functions[n] == b.functions[m]
end

-- The number of outermost frames that all remembered stacks with the function of a position have in common, outside of
-- it, and one of those stacks.
local function in_common(memory, L, stack, pc)
	local first, count
	for _, record in pairs(memory.by) do
		local place = record.L == L and record.stack == stack and place_of(record, pc)
		if place then
			first, count = first or record, math.min(count or place - 1, place - 1)
			for n = 1, count do
				if not is_same(first, record, n) then
					count = n - 1
					break
				end
			end
		end
	end
	return first, count or 0
end

-- For a torn stack in the function of a position: the callers that it had whenever it was seen, as far as they are
-- still there, below the base of the sample. A 0 stands for what is between.
function stacks.steady(self, kept, memory, L, stack, pc, base, list)
	local record, count = nil, 0
	if memory and pc then record, count = in_common(memory, L, stack, pc) end
	local known = 0
	while known < count do
		local i = #record.at - known
		if record.at[i] >= base or not is_there(self, record, i) then break end
		known = known + 1
	end
	list[#list + 1] = 0
	if known == 0 then return end
	local from = #record.at - known + 1
	local one = record.protos[from]
	list[#list + 1] = one and places.at(self, kept, one) or record.list[record.first + from] -- its line is not known
	for i = from + 1, #record.at do list[#list + 1] = record.list[record.first + i] end
end

-- For the frames below a torn one: they wait for the C function that the sample shows, where others have waited before.
-- Returns whether that is proved, and where they go on.
function stacks.waiting(self, kept, memory, L, stack, pc, list, callee)
	local tried = {}
	for _, record in pairs(memory and memory.by or {}) do
		local at = record.at[1]
		if record.L == L and record.stack == stack and not tried[at] then
			tried[at] = true
			local before = #list
			local ok, rest, found = pcall(stacks.walk, self, kept, L, stack, at, pc, list, true, callee)
			if ok and found then return true, rest end
			for n = #list, before + 1, -1 do list[n] = nil end
		end
	end
	return false
end

return stacks
