-- samples: Python frames in the stacks of a profile's samples.
--
-- The C frame of the evaluator, with its registers, is of the sample's instant; frames of Python are on the heap and
-- read later. Where the evaluator keeps its current frame, a register or a place in its C frame, is learned: it leads
-- to a frame whose code a word of the evaluator (the next instruction) points into. That is the proof, too, that the
-- frame still runs what it ran; its callers are those of when they are read, which may be a later call.
--
--	3.11 and later	C frame of the evaluator ─→ current frame ─previous→ … to the one that C code called (is_entry, owner
--			C stack); the next C frame of the evaluator ─→ the frame after that one
--	up to 3.10	each C frame of the evaluator ─→ its own frame object
local xcore = require "xcore"
local code = require "cpython.code"
local evaluator = require "lib.evaluator"
local runtime = require "cpython.runtime"

local samples = {}

local unpack = string.unpack

local EVALUATOR = "_PyEval_EvalFrameDefault"
local POINTER = (1 << 47) - 1
local GENERATOR = 1 -- owner
local MOST = 2000   -- frames
local RECHECK = 256 -- uses of a code object after which it is looked at again
local SEEN = 100000 -- frames that are kept
local LONG = 8      -- samples

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
	local start, size = one.start, 2 * t:u64(addr + py.layout.ob_size)
	if self.objects then
		local bytes = t:u64(addr + self.at.bytes)
		start, size = bytes + py.layout.items.bytes, t:u64(bytes + py.layout.ob_size)
	end
	found = {
		code = one,
		start = start,
		stop = start + size,
		places = {},
		used = 0,
		lines = t:u64(addr + self.at.lines),
	}
	self.codes[addr] = found
	return found
end

local function place(self, one, offset)
	local found = one.places[offset]
	if not found then
		local c = one.code
		found = self.told:place {
			name = c.name or "?",
			file = c.file,
			line = code.line(self.py, c, offset),
			kind = "function",
			language = "python",
		}
		one.places[offset] = found
	end
	return found
end

-- ---- a frame of a sample ----

-- Up to 3.10: the frame object of one C frame, which its own words prove.
local function step_object(self, one, list)
	local at = self.at
	local addr, is = evaluator.find_in(self.finder, self.t, one, self.registers)
	if not addr or not is then
		list[#list + 1] = 0
		return true
	end
	local bytes = self.t:read(addr, at.size)
	local it = code_at(self, unpack("<i8", bytes, at.code + 1))
	local offset = unpack("<i4", bytes, at.instruction + 1) * at.scale
	if not it or offset >= it.stop - it.start then
		list[#list + 1] = 0
		return true
	end
	list[#list + 1] = place(self, it, offset)
end

-- One frame: its bytes, its owner, the one before it, its code and instruction.
local function read(self, addr)
	local at = self.at
	local bytes = self.t:read(addr, at.size)
	local owner, previous = bytes:byte(at.owner + 1), unpack("<i8", bytes, at.previous + 1)
	local it = owner ~= self.py.layout.on_c_stack and code_at(self, unpack("<i8", bytes, at.code + 1) & ~3) or nil
	return {
		at = addr,
		bytes = bytes,
		owner = owner,
		previous = previous,
		code = it,
		offset = it and unpack("<i8", bytes, at.instruction + 1) - it.start,
	}
end

-- Is there a frame at this address whose code the evaluator runs?
local function is_current(self, addr, words)
	local it = code_at(self, self.t:u64(addr + self.at.code) & ~3)
	return it and evaluator.points_into(words, it.start, it.stop) ~= nil
end

-- Did C call this one?
local function is_entry(self, it)
	local at = self.at
	return it.owner == self.py.layout.on_c_stack
		or it.previous == 0
		or at.entry ~= nil and it.bytes:byte(at.entry + 1) ~= 0
end

local function is_shown(it)
	return it.code and (it.owner == GENERATOR or it.offset >= it.code.code.traceable * 2)
end

local function keep(self, it)
	local old = self.seen[it.at]
	it.age = old and old.bytes == it.bytes and old.age + 1 or 1
	if not old then self.seen_count = self.seen_count + 1 end
	if self.seen_count > SEEN then self.seen, self.seen_count = {}, 0 end
	self.seen[it.at] = it
end

-- Frames from one on to the one that C called. Returns the frame after that; nil: it was the last one; or nil and why
-- it is torn; or nil, nil and true: there are too many, their outer part is left out.
local function walk(self, one, addr, list)
	local frames, deep = {}, true
	for _ = 1, MOST do
		local it = read(self, addr)
		frames[#frames + 1] = it
		if it.owner == self.py.layout.on_c_stack then
			if addr < one.sp or one.cfa and addr >= one.cfa then return nil, "another C frame's" end
		elseif not it.code or it.offset < -2 or it.offset > it.code.stop - it.code.start then
			return nil, "a frame without code"
		end
		if is_entry(self, it) then
			deep = false
			break
		end
		addr = it.previous
	end
	for _, it in ipairs(frames) do
		keep(self, it)
		if is_shown(it) then list[#list + 1] = place(self, it.code, it.offset) end
	end
	if deep then
		list[#list + 1] = 0
		return nil, nil, true
	end
	local last = frames[#frames].previous
	return last ~= 0 and last or nil
end

-- The callers of a frame that is torn: where it was seen before, those that are as they were in each of many samples.
-- Returns the one after them.
local function add_unchanged(self, addr, list)
	local frames, old, rest = {}, self.seen[addr], nil
	for _ = 1, MOST do
		if not old or is_entry(self, old) then
			rest = old and old.previous ~= 0 and old.previous or nil
			break
		end
		local it = read(self, old.previous)
		old = self.seen[old.previous]
		if old and old.age >= LONG and old.bytes == it.bytes then
			frames[#frames + 1] = old
		else
			frames, old = {}, nil
		end
	end
	list[#list + 1] = 0
	for _, it in ipairs(frames) do
		if is_shown(it) then list[#list + 1] = place(self, it.code, it.offset) end
	end
	return rest
end

local function step(self, one, sample, list)
	if self.objects then return step_object(self, one, list) end
	if sample.ended then return true end
	if sample.torn then
		if sample.next and self.seen[sample.next] then sample.next = add_unchanged(self, sample.next, list) end
		return true
	end
	local addr, is = sample.next, true
	if not addr then addr, is = evaluator.find_in(self.finder, self.t, one, self.registers) end
	if not addr then return true end
	if not is then
		sample.next = add_unchanged(self, addr, list)
		return true
	end
	local rest, why, deep = walk(self, one, addr, list)
	if why then
		sample.next = add_unchanged(self, addr, list)
		return why
	end
	sample.next, sample.ended = rest, not rest
	return deep
end

-- ---- the beginning ----

local function offsets_of_objects(py)
	local function of(member) return xcore.offsetof("PyFrameObject", member) end
	local pairs_of_bytes = py.layout.line_table == "pairs"
	return {
		code = of "f_code", previous = of "f_back", instruction = of "f_lasti", size = of "f_localsplus",
		scale = pairs_of_bytes and 2 or 1, bytes = xcore.offsetof("PyCodeObject", "co_code"),
		lines = xcore.offsetof("PyCodeObject", pairs_of_bytes and "co_linetable" or "co_lnotab"),
	}
end

local function offsets(py)
	if not py.layout.interpreter_frames then return offsets_of_objects(py) end
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
	local registers = evaluator.registers(t)
	if not registers then error(xcore.error("unsupported", "frames of CPython in samples: on x86-64 and aarch64")) end
	local self = {
		t = t, told = told, py = py, at = offsets(py), codes = {}, seen = {}, seen_count = 0, registers = registers,
		type = t:symbol "PyCode_Type".addr, objects = not py.layout.interpreter_frames,
	}
	self.finder = evaluator.finder(
		function(addr, words) return is_current(self, addr, words) end,
		function(addr) return t:u64(addr + self.at.previous) end
	)
	evaluator.watch(t, told, EVALUATOR)
	pcall(prepare, self) -- it runs meanwhile
	return evaluator.sampler(function(one, sample, list) return step(self, one, sample, list) end)
end

return samples
