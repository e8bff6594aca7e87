-- sample_stack: Lua's stack as it is soon after a sample, and the proof that it is that of the sample (samples.lua).
local places = require "luajit.sample_places"

local stacks = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local LUA, C, CONT, VARG = 0, 1, 2, 3 -- kinds of frames (frame.lua)
local CALLBACK = 1
local MOST = 2000 -- frames

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
-- list. Returns where to go on, nil at the bottom, and a record of the frames; or nil, nil and why it is torn.
function stacks.walk(self, kept, L, stack, f, pc, list, proof, callee)
	local bottom = stack + 8
	if f < bottom or f - stack > 1 << 20 or f & 7 ~= 0 then return nil, nil, "its base is outside its stack" end
	local chunk = self.t:read(stack, f + 8 - stack)
	local function word(at) return unpack("<i8", chunk, at - stack + 1) end
	local waiting, waiting_pc -- a function whose caller is not known yet
	local varargs, record = false, { L = L, stack = stack, list = list, first = #list, at = {}, links = {}, functions = {}, protos = {} }
	for _ = 1, MOST do
		if f == bottom then break end
		if f < bottom + 8 then return nil, nil, "its last frame reaches below its stack" end
		local link, func = word(f), word(f - 8) & POINTER
		local kind = link & 3
		local one
		if not varargs and func ~= L then
			one = places.of_function(self, kept, func, pc)
			if proof and not agrees(self, one, func, link, pc, callee) then return nil, nil, "its function has returned" end
			if one and pc and (pc < one.lo or pc > one.hi) then
				if not proof then return nil, nil, "a position outside its function" end
				pc = nil -- it is being entered or left
			end
			if waiting then list[#list + 1] = places.at(self, kept, waiting, waiting_pc, one, pc) end
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
	return nil, record
end

-- Adds the outer frames of an earlier record that are still there, below `limit`: what was there before and after the
-- sample was there in it. A 0 stands for what is not known. Returns whether all are.
function stacks.steady(self, kept, record, L, stack, limit, list)
	if not record or record.L ~= L or record.stack ~= stack or #record.at == 0 then
		list[#list + 1] = 0
		return false
	end
	local count, from = #record.at, #record.at + 1
	local chunk = self.t:read(stack, record.at[1] + 8 - stack)
	for i = count, 1, -1 do
		local f = record.at[i]
		local same = f < limit and unpack("<i8", chunk, f - stack + 1) == record.links[i]
		if not same or unpack("<i8", chunk, f - 8 - stack + 1) & POINTER ~= record.functions[i] then break end
		from = i
	end
	if from > 1 or #list > 0 then list[#list + 1] = 0 end
	for i = from, count do
		local one = i == from and (from > 1 or #list > 0) and record.protos[i]
		list[#list + 1] = one and places.at(self, kept, one) or record.list[record.first + i]
	end
	return from == 1
end

return stacks
