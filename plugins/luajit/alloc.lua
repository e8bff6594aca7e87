-- alloc: the memory of LuaJIT's allocator: obtained from the system, in use by kind of owner, and free.
local xcore = require "xcore"
local arena = require "luajit.arena"
local commands = require "luajit.commands"
local pieces = require "luajit.pieces"
local still = require "luajit.still"

local alloc = {}

local OVERHEAD, HEADER, SHOWN = 8, 16, 20

-- ---- counting ----

local function new_count()
	return { used = 0, used_bytes = 0, free = 0, free_bytes = 0, largest = 0, classes = {}, owners = {}, unknown = {} }
end

local function class_of(size)
	local class = 16
	while class * 2 <= size do class = class * 2 end
	return class
end

local function count_owner(count, kind, bytes, asked)
	local owner = count.owners[kind]
	if not owner then
		owner = { kind = kind, count = 0, bytes = 0, asked = 0 }
		count.owners[kind] = owner
	end
	owner.count, owner.bytes, owner.asked = owner.count + 1, owner.bytes + bytes, owner.asked + asked
end

local function count_chunks(vm, self, found, count)
	local classes, find, g, segments = {}, found.graph.find, found.graph, {}
	for _, segment in ipairs(self.segments) do segments[segment.record] = true end
	local of = setmetatable({}, { __index = function(memo, size)
		local class = class_of(size)
		memo[size] = class
		return class
	end })
	local function class(size)
		local name = of[size]
		local one = classes[name]
		if not one then
			one = { name = name, used = 0, used_bytes = 0, free = 0, free_bytes = 0 }
			classes[name] = one
		end
		return one
	end
	count.rest = arena.walk(self, function(at, size, in_use)
		local one = class(size)
		if not in_use then
			one.free, one.free_bytes = one.free + 1, one.free_bytes + size
			if size > count.largest then count.largest = size end
			return
		end
		one.used, one.used_bytes = one.used + 1, one.used_bytes + size
		local block = at + HEADER
		local addr, asked, kind = find(g, block)
		if addr == block then return count_owner(count, kind, size, asked) end
		if block == self.addr or segments[block] then
			return count_owner(count, "allocator's own", size, size - OVERHEAD)
		end
		count_owner(count, "unknown", size, size - OVERHEAD)
		if #count.unknown < 10000 then count.unknown[#count.unknown + 1] = { addr = block, size = size - OVERHEAD } end
	end, function(addr, what) vm:damaged(addr, what) end)
	count.classes = classes
	for _, one in pairs(classes) do
		count.used, count.used_bytes = count.used + one.used, count.used_bytes + one.used_bytes
		count.free, count.free_bytes = count.free + one.free, count.free_bytes + one.free_bytes
	end
end

-- Pieces in no segment: they have their own mapping.
local function count_direct(vm, self, found, count)
	count.direct, count.direct_bytes, count.direct_mapped, count.outside = 0, 0, 0, 0
	for _, piece in ipairs(found.large) do
		if not arena.segment(self, piece.addr) then
			local size, mapped = arena.direct(self, piece.addr)
			if size and size >= piece.size then
				count.direct, count.direct_bytes = count.direct + 1, count.direct_bytes + size
				count.direct_mapped = count.direct_mapped + mapped
				count_owner(count, piece.kind, size, piece.size)
			else
				count.outside = count.outside + 1
				vm:damaged(piece.addr, ("a piece of %d bytes (%s) is in no segment and has no mapping of its own"):format(
					piece.size, piece.kind))
			end
		end
	end
end

-- ---- telling ----

local function sorted(map, key)
	local list = {}
	for _, one in pairs(map) do list[#list + 1] = one end
	table.sort(list, function(a, b) return a[key] > b[key] end)
	return list
end

local function add_totals(section, self, count)
	local bytes = 0
	for _, segment in ipairs(self.segments) do bytes = bytes + segment.size end
	section:address("state", self.addr)
	section:bytes("mapped", bytes + count.direct_mapped, { label = "from the system" })
	section:count("segment_count", #self.segments, { label = "segments" })
	section:bytes("segments", bytes, { label = "bytes of segments" })
	section:count("direct_count", count.direct, { label = "blocks with their own mapping" })
	section:bytes("direct", count.direct_mapped, { label = "bytes of those" })
	section:bytes("used", count.used_bytes + count.direct_bytes, { label = "in use" })
	section:count("used_chunks", count.used + count.direct, { label = "chunks in use" })
	section:bytes("free", count.free_bytes + self.top_size)
	section:count("free_chunks", count.free, { label = "free chunks" })
	section:bytes("largest_free", count.largest, { label = "largest free chunk" })
	section:bytes("dv", self.dv_size, { label = "for the next small one" })
	section:bytes("top", self.top_size, { label = "never used yet (top)" })
	if bytes > self.top_size then
		section:ratio("fragmentation", count.free_bytes / (bytes - self.top_size), { label = "free below top" })
	end
	return bytes
end

local function add_owners(section, count)
	local rows = section:table("owners", {
		{ "what", "text" }, { "blocks", "count" }, { "bytes", "bytes" }, { "asked", "bytes" }, { "overhead", "bytes" },
	})
	for _, owner in ipairs(sorted(count.owners, "bytes")) do
		rows:row(owner.kind, owner.count, owner.bytes, owner.asked, owner.bytes - owner.asked)
	end
end

local function add_classes(section, count)
	local rows = section:table("sizes", {
		{ "from", "bytes", label = "CHUNKS FROM" }, { "used", "count" }, { "used_bytes", "bytes" }, { "free", "count" }, { "free_bytes", "bytes" },
	})
	local list = sorted(count.classes, "name")
	for i = #list, 1, -1 do
		rows:row(list[i].name, list[i].used, list[i].used_bytes, list[i].free, list[i].free_bytes)
	end
end

local function add_segments(section, self, limit)
	local rows = section:table(
		"segment_list",
		{ { "base", "address" }, { "size", "bytes" }, { "has_top", "bool", label = "TOP" }, { "mapping", "text" } }
	)
	for i, segment in ipairs(self.segments) do
		if i > limit then break end
		local map, size = self.t:map(segment.base), segment.size
		local whole = self.t:readable(segment.base, size) == size
		rows:row(segment.base, size, arena.segment(self, self.top) == segment,
			not map and "not mapped" or whole and "whole" or "partly missing")
	end
	if #self.segments > limit then
		section:note(("the first %d of %d segments are shown"):format(limit, #self.segments), "--limit N shows more")
	end
end

-- Every chunk must be accounted for, and the free lists must agree with the chunks.
local function add_checks(vm, section, self, count, bytes)
	local lost = bytes - count.used_bytes - count.free_bytes - count.rest
	section:integer("unaccounted", lost, { label = "unaccounted bytes" })
	if lost ~= 0 then section:warning "chunks do not add up to their segments" end
	local binned, binned_bytes, why = arena.binned(self, count.free + 64)
	local in_lists = binned + (self.dv_size > 0 and 1 or 0)
	section:bool("lists_agree", not why and in_lists == count.free and binned_bytes + self.dv_size == count.free_bytes,
		{ label = "free lists agree" })
	if why then vm:damaged(self.addr, "free lists: " .. why) end
	if in_lists ~= count.free then
		section[vm.t.live and "note" or "warning"](
			section,
			("%d chunks are free, %d are in free lists"):format(count.free, in_lists)
		)
	end
	if self.why then vm:damaged(self.addr, self.why) end
	if #count.unknown > 0 then
		local owner = count.owners.unknown
		local first = count.unknown[1]
		section:note(("%d blocks (%d bytes) are in use but not part of an object; the first is at %s"):format(
			owner.count, owner.bytes, xcore.hex(first.addr)),
			"text being parsed, memory that C code allocated with lua_getallocf, or lost memory")
	end
end

-- luajit.alloc [--limit N]
function alloc.run(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" })
	local section = report:section("alloc", "LuaJIT's allocator")
	local self, why = still.run(vm, function() return arena.of(vm) end)
	if not self then
		section:text("allocator", why)
		section:note("LuaJIT's own allocator does not manage the VM's memory", "xcore heap summary shows malloc")
		return
	end
	local found, count = still.run(vm, function() return pieces.of(vm) end), new_count()
	section:text("allocator", "lj_alloc")
	count_chunks(vm, self, found, count)
	count_direct(vm, self, found, count)
	local bytes = add_totals(section, self, count)
	add_owners(section, count)
	add_classes(section, count)
	add_segments(section, self, options.limit or SHOWN)
	add_checks(vm, section, self, count, bytes)
	vm:tell(section)
end

return alloc
