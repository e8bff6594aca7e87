-- arena: LuaJIT's own allocator (lj_alloc.c of 2.1): segments of chunks, as in dlmalloc.
--
--	chunk → | size of the one before, if that is free |
--	        | size, multiple of 8      | in use | before in use |   bit 1, bit 0
--	mem   → | block ...               (free: next and previous of its list; in trees: children, parent, index)
--
-- A segment ends in the top chunk, or in fenceposts: chunks of 8 bytes. Blocks of 128 KiB and more have their own
-- mapping ("direct"): the word before their size has bit 0, and its other bits are the offset of the chunk in the
-- mapping.
local xcore = require "xcore"

local arena = {}

local BEFORE_IN_USE, IN_USE, FENCEPOST = 1, 2, 11
local MOST_SEGMENTS, READ, DIRECT_FOOT = 1 << 20, 1 << 20, 32

local DECLARED = [[
struct lj_arena_segment { char *base; unsigned long size; struct lj_arena_segment *next; };
struct lj_arena {
	unsigned smallmap, treemap;
	unsigned long dvsize, topsize;
	void *dv, *top;
	unsigned long trim_check, release_checks;
	void *smallbins[66];
	void *treebins[32];
	struct lj_arena_segment seg;
};
]]

local function pointer(v)
	return v and xcore.addr(v) or 0
end

-- Segments: { base, size }, and the reason if the list ended early, or nil.
local function segments_of(state)
	local list, known, segment = {}, {}, state.seg
	while segment do
		local base, size = pointer(segment.base), segment.size
		if known[base] or #list == MOST_SEGMENTS then return list, "the list of segments is cyclic" end
		if base == 0 or size <= 0 or size & 7 ~= 0 then
			return list, ("a segment of %s bytes at %s"):format(xcore.u64(size), xcore.hex(base))
		end
		known[base] = true
		list[#list + 1] = { base = base, size = size, record = xcore.addr(segment) }
		segment = segment.next
	end
	return list
end

-- The arena of a VM; nil and the reason if its allocator is a different one or cannot be read.
function arena.of(vm)
	local t = vm.t
	local at = t:ptr(xcore.addr(xcore.ref(vm.g, "allocd")))
	local code = t:ptr(xcore.addr(xcore.ref(vm.g, "allocf")))
	local name = xcore.symbol(code)
	if name and not name:find "^lj_alloc_f" then return nil, "the program's own allocator, " .. name end
	if t.pointer_size ~= 8 then return nil, "the allocator of a 32-bit program" end
	local state = xcore.cdef(DECLARED):type "struct lj_arena"
	local ok, found, why = pcall(function()
		local value = t:value(state, at)
		local segments, ended = segments_of(value)
		return { t = t, state = value, addr = at, segments = segments, top = pointer(value.top), top_size = value.topsize,
			dv = pointer(value.dv), dv_size = value.dvsize }, ended
	end)
	if not ok then return nil, name and found.message or "an allocator of the program" end
	local holder = arena.segment(found, found.top)
	if not holder or holder.base > at or at >= holder.base + holder.size then
		holder = holder and arena.segment(found, at)
	end
	if not holder then return nil, name and "lj_alloc, but its state is damaged" or "an allocator of the program" end
	found.why = why
	return found
end

-- The segment that contains an address.
function arena.segment(self, addr)
	for _, segment in ipairs(self.segments) do
		if addr >= segment.base and addr - segment.base < segment.size then return segment end
	end
end

-- Chunks of a segment in address order: fn(chunk, size, in use). Returns the number of bytes at the end that are not
-- chunks (fenceposts, the foot of top), and the problem if the walk stopped early.
local function walk_segment(self, segment, fn)
	local last, at, before = segment.base + segment.size, segment.base, true
	local bytes, from, unpack = "", 0, string.unpack
	while at < last do
		if at == self.top then return last - at end
		local offset = at - from
		if offset + 24 > #bytes then
			from, bytes = at, self.t:read(at, math.min(READ, last - at))
			offset = 0
		end
		if #bytes - offset < 16 then return last - at end
		local head = unpack("<i8", bytes, offset + 9)
		if head == FENCEPOST then return last - at end
		local size = head & ~7
		if size < 16 or size > last - at then
			return last - at, ("the chunk at %s has a recorded size of %s bytes"):format(xcore.hex(at), xcore.u64(size))
		end
		if (head & BEFORE_IN_USE ~= 0) ~= before then
			return last - at, ("the chunk at %s marks the previous chunk as %s"):format(xcore.hex(at),
				before and "free" or "in use")
		end
		before = head & IN_USE ~= 0
		fn(at, size, before)
		at = at + size
	end
	return 0
end

function arena.walk(self, fn, damaged)
	local ends = 0
	for _, segment in ipairs(self.segments) do
		local ok, rest, why = pcall(walk_segment, self, segment, fn)
		if not ok then
			damaged(segment.base, "segment: " .. tostring(type(rest) == "table" and rest.message or rest))
		else
			if why then damaged(segment.base, "segment: " .. why) end
			segment.rest = rest
			ends = ends + rest
		end
	end
	return ends
end

-- A block with its own mapping: bytes of the chunk and of its mapping; nil if it is not one.
function arena.direct(self, block)
	local ok, foot, head = pcall(function() return self.t:u64(block - 16), self.t:u64(block - 8) end)
	if not ok or foot & 1 == 0 or head & IN_USE == 0 or foot >= 4096 or foot < 0 then return nil end
	local size, offset = head & ~7, foot & ~1
	return size, size + offset + DIRECT_FOOT
end

-- ---- lists of free chunks ----

-- Chunks in the bins (those marked non-empty in the maps: the others keep old pointers), without dv: their number and
-- bytes; and any problem with them.
function arena.binned(self, most)
	local t, count, bytes, why, known = self.t, 0, 0, nil, {}
	local function take(chunk)
		if known[chunk] or count > most then
			why = why or "a list of free chunks is cyclic, or leads into another"
			return false
		end
		known[chunk] = true
		count, bytes = count + 1, bytes + (t:u64(chunk + 8) & ~7)
		return true
	end
	local function ring(first, head)
		local at = first
		while at ~= head and take(at) do at = t:u64(at + 16) end
	end
	local bins = xcore.addr(xcore.ref(self.state, "smallbins"))
	local ok, err = pcall(function()
		for i = 0, 31 do
			local head = bins + i * 16
			if self.state.smallmap >> i & 1 ~= 0 then ring(t:u64(head + 16), head) end
		end
		local todo = {}
		for i = 0, 31 do
			if self.state.treemap >> i & 1 ~= 0 then todo[#todo + 1] = pointer(self.state.treebins[i]) end
		end
		while #todo > 0 do
			local at = table.remove(todo)
			if at ~= 0 and take(at) then
				ring(t:u64(at + 16), at)
				todo[#todo + 1], todo[#todo + 2] = t:u64(at + 32), t:u64(at + 40)
			end
		end
	end)
	if not ok then
		why = why or tostring(type(err) == "table" and err.message or err)
	end
	return count, bytes, why
end

return arena
