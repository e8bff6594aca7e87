-- samples: Python frames in the stacks of a profile's samples, from 3.11 on.
--
-- The C frame of the evaluator, with its registers, is of the sample's instant; frames of Python are on the heap and
-- read later. Where the evaluator keeps its current frame, a register or a place in its C frame, is learned: it leads to
-- a frame whose code a word of the evaluator (the next instruction) points into. That is the proof, too, that the frame
-- still runs what it ran.
--
--	C frame of the evaluator ─→ current frame ─previous→ … to the one that C code called (is_entry, owner C stack)
--	the next C frame of the evaluator ─→ the frame after that one
local xcore = require "xcore"
local code = require "cpython.code"
local runtime = require "cpython.runtime"

local samples = {}

local unpack = string.unpack

local EVALUATOR = "_PyEval_EvalFrameDefault"
local POINTER = (1 << 47) - 1
local GENERATOR = 1  -- owner
local LARGEST = 4096 -- bytes of the evaluator's C frame
local LEARNING = 30  -- samples
local MOST = 2000    -- frames
local RECHECK = 256  -- uses of a code object after which it is looked at again

local REGISTERS = {
	["x86-64"] = { "rbx", "rbp", "r12", "r13", "r14", "r15" },
	aarch64 = { "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28" },
}

-- ---- code ----

-- A code object: { code, start, stop, places }; nil if there is none.
local function code_at(self, addr)
	local py, t = self.py, self.t
	local found = self.codes[addr]
	if found and found.used < RECHECK then
		found.used = found.used + 1
		return found
	end
	local same = found and t:u64(addr + self.at.lines) == found.lines
	if same then
		found.used = 0
		return found
	end
	if found then py.codes[addr] = nil end
	local is = addr & 7 == 0 and addr > 4096 and addr <= POINTER and t:u64(addr + py.layout.ob_type) == self.type
	local one = is and code.at(py, addr)
	if not one then
		if py.codes then py.codes[addr] = nil end -- there may be one later
		return nil
	end
	local units = t:u64(addr + py.layout.ob_size)
	found = { code = one, start = one.start, stop = one.start + 2 * units, places = {}, used = 0, lines = t:u64(addr + self.at.lines) }
	self.codes[addr] = found
	return found
end

local function place(self, one, offset)
	local found = one.places[offset]
	if not found then
		local c = one.code
		found = self.told:place { name = c.name or "?", file = c.file, line = code.line(self.py, c, offset), kind = "function", language = "python" }
		one.places[offset] = found
	end
	return found
end

-- ---- the evaluator's C frame ----

-- Its words, by key: registers by name, words of the C frame by their distance from its end.
local function words_of(self, one)
	local words, sp, cfa = {}, one.sp, one.cfa
	for _, name in ipairs(self.registers) do words[name] = one:register(name) end
	if not cfa or cfa <= sp or cfa - sp > LARGEST then return words end
	local bytes = self.t:read(sp, cfa - sp)
	for at = 1, #bytes - 7, 8 do words[cfa - sp - at + 1] = unpack("<i8", bytes, at) end
	return words
end

local function points_into(words, one)
	for _, word in pairs(words) do
		if word >= one.start and word < one.stop then return true end
	end
	return false
end

-- Is there a frame at this address whose code the evaluator runs?
local function is_current(self, addr, words)
	if addr & 7 ~= 0 or addr < 4096 or addr > POINTER then return false end
	local ok, is = pcall(function()
		local one = code_at(self, self.t:u64(addr + self.at.code) & ~3)
		return one and points_into(words, one)
	end)
	return ok and is
end

-- The current frame; nil if none is proved.
local function current(self, words)
	if self.learned then
		local addr = words[self.learned]
		return addr and is_current(self, addr, words) and addr or nil
	end
	local best
	for key, word in pairs(words) do
		if is_current(self, word, words) then
			self.votes[key] = (self.votes[key] or 0) + 1
			if not best or self.votes[key] > self.votes[best] then best = key end
		end
	end
	self.tries = self.tries + 1
	if self.tries >= LEARNING then
		for key, votes in pairs(self.votes) do
			if not self.learned or votes > self.votes[self.learned] then self.learned = key end
		end
	end
	return best and words[best]
end

-- ---- a frame of a sample ----

-- Frames from one on to the one that C called. Returns the frame after that; nil: it was the last one; or nil and why
-- it is torn.
local function walk(self, one, addr, list)
	local at, t, L = self.at, self.t, self.py.layout
	for _ = 1, MOST do
		local bytes = t:read(addr, at.size)
		local owner, previous = bytes:byte(at.owner + 1), unpack("<i8", bytes, at.previous + 1)
		if owner == L.on_c_stack then
			if addr < one.sp or one.cfa and addr >= one.cfa then return nil, "another C frame's" end
			return previous ~= 0 and previous or nil
		end
		local it = code_at(self, unpack("<i8", bytes, at.code + 1) & ~3)
		if not it then return nil, "a frame without code" end
		local offset = unpack("<i8", bytes, at.instruction + 1) - it.start
		if offset < -2 or offset > it.stop - it.start then return nil, "an instruction that is not its code's" end
		if owner == GENERATOR or offset >= it.code.traceable * 2 then list[#list + 1] = place(self, it, offset) end
		if at.entry and bytes:byte(at.entry + 1) ~= 0 or previous == 0 then return previous ~= 0 and previous or nil end
		addr = previous
	end
	return nil
end

local function step(self, one, sample, list)
	if sample.torn then return true end
	local addr = sample.next
	if sample.ended then return true end
	if not addr then addr = current(self, words_of(self, one)) end
	if not addr then return true end
	local rest, why = walk(self, one, addr, list)
	sample.next, sample.ended = rest, not rest
	return why
end

-- ---- the beginning ----

local function offsets(py)
	local function of(member) return xcore.offsetof("_PyInterpreterFrame", member) end
	local L = py.layout
	return {
		code = of(L.code_of_frame), previous = of "previous", instruction = of(L.instruction), owner = of "owner",
		entry = L.is_entry and of "is_entry" or nil, size = of "localsplus", lines = xcore.offsetof("PyCodeObject", "co_linetable"),
	}
end

-- What runs now is known before the first sample, which would have to wait for it.
local function prepare(self)
	local frame = require "cpython.frame"
	for _, thread in ipairs(runtime.threads(self.py)) do
		for _, one in ipairs((frame.list(self.py, thread))) do
			if one.code then
				local it = code_at(self, one.code.addr)
				if it and one.offset and one.offset >= 0 then place(self, it, one.offset) end
			end
		end
	end
end

function samples.begin(t, told)
	local py = runtime.of(t)
	if not py.layout.interpreter_frames or not REGISTERS[t.arch] then
		error(xcore.error("unsupported", "frames of CPython in samples: from 3.11 on, on x86-64 and aarch64"))
	end
	local self = { t = t, told = told, py = py, at = offsets(py), codes = {}, votes = {}, tries = 0, registers = REGISTERS[t.arch],
		type = t:symbol "PyCode_Type".addr }
	for _, name in ipairs { EVALUATOR, EVALUATOR .. ".cold" } do
		if t:has_symbol(name) then
			local it = t:symbol(name)
			if it.size and it.size > 0 then told:watch(it.addr, it.addr + it.size - 1) end
		end
	end
	pcall(prepare, self) -- it runs meanwhile
	return function(one, sample)
		local list = {}
		local ok, torn = pcall(step, self, one, sample, list)
		torn = not ok or torn
		sample.torn = sample.torn or torn
		return list, torn
	end
end

return samples
