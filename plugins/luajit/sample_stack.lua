-- sample_stack: Lua's stack as it is soon after a sample, and the proof that it is that of the sample (samples.lua).
local places = require "luajit.sample_places"

local stacks = {}

local unpack = string.unpack

local POINTER = (1 << 47) - 1
local LUA, C, CONT, VARG = 0, 1, 2, 3 -- kinds of frames (frame.lua)
local CALLBACK = 1
local MOST = 2000 -- frames
local KEPT = 16   -- stacks of a VM's frame

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

-- How many frames of a record are still there, from the outermost on.
local function unchanged(self, record, limit)
	local count, same = #record.at, 0
	local chunk = self.t:read(record.stack, record.at[1] + 8 - record.stack)
	for i = count, 1, -1 do
		local f = record.at[i] - record.stack
		if record.at[i] >= limit or unpack("<i8", chunk, f + 1) ~= record.links[i] then break end
		if unpack("<i8", chunk, f - 8 + 1) & POINTER ~= record.functions[i] then break end
		same = same + 1
	end
	return same
end

-- The only frame of a record that runs the function of a position; nil: there is none, or there are several.
local function frame_of(record, pc)
	local found
	for i, one in ipairs(record.protos) do
		if one and pc > one.lo and pc <= one.hi then
			if found then return nil end
			found = i
		end
	end
	return found
end

-- Earlier stacks of one of the VM's frames: one for each innermost function, a few.
function stacks.keep(records, record)
	local key = record.functions[1]
	if not key then return end
	if not records[key] then
		records.count = (records.count or 0) + 1
		if records.count > KEPT then
			for each in pairs(records) do records[each] = nil end
			records.count = 1
		end
	end
	records[key] = record
end

-- The frames from one on, as they were then, to the list.
local function add_frames(record, from, list)
	for i = from, #record.at do list[#list + 1] = record.list[record.first + i] end
end

local function each_of(records, L, stack)
	local list = {}
	for key, record in pairs(records or {}) do
		if key ~= "count" and record.L == L and record.stack == stack then list[#list + 1] = record end
	end
	return list
end

-- For a torn stack: the outer frames of an earlier one that are still there. What was there before and after a sample,
-- below its base, was there in it; and so were the callers of the function that it is in. A 0 stands for what is not
-- known. `base`: of the sample, or nil; `pc`: the position of the list's last frame, or nil. Returns whether all is known.
function stacks.steady(self, kept, records, L, stack, base, pc, list)
	local best, most = nil, 0
	for _, record in ipairs(each_of(records, L, stack)) do
		local own = not base and pc and frame_of(record, pc)
		local limit = base and base - 8 or own and record.at[own] + 8 or 0
		local same = unchanged(self, record, limit)
		if own and same == #record.at - own + 1 then
			add_frames(record, own + 1, list)
			return true
		end
		if base and same > most then best, most = record, same end
	end
	list[#list + 1] = 0
	if not best then return false end
	local from = #best.at - most + 1
	local one = best.protos[from]
	if one then list[#list + 1] = places.at(self, kept, one) end -- its line is not known
	add_frames(best, one and from + 1 or from, list)
	return false
end

-- The same for the frames below a torn one: they wait where they did before.
function stacks.waiting(self, records, L, stack, list)
	for _, record in ipairs(each_of(records, L, stack)) do
		if unchanged(self, record, math.maxinteger) == #record.at then
			add_frames(record, 1, list)
			return true
		end
	end
	list[#list + 1] = 0
	return false
end

return stacks
