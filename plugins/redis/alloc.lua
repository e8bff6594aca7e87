-- alloc.lua: the number of bytes that the allocator uses for a block: Redis's zmalloc_size.
--
-- jemalloc keeps a radix tree from page to size class (rtree.h, 5.0 to 5.3). Its root is at the end of a variable.
-- With 48-bit addresses it has two levels of 2^18 words, and the class is in the top 16 bits of a leaf word. If
-- jemalloc was configured on a machine with 57-bit addresses, it has three levels of 2^15 and leaves of two words:
-- the extent, and the class, above 5 bits of state since 5.3. Without symbols of jemalloc, the requested size is
-- rounded up to a class; this is the actual size unless a block shrank in place. glibc stores the size before each
-- block: | previous size | size ..... | A | M | P | block … (malloc.c).
local xcore = require "xcore"
local fault = require "redis.fault"
local sds = require "redis.sds"
local record = require "redis.record"

local alloc = {}

local LARGEST = 1 << 46 -- bytes of a block: a larger value is not a size
local PAGE_BITS = 12
local CHUNK = 512 -- pages of a leaf read at once: 2 MiB of addresses
local BEFORE_ROOT = 512 -- maximum bytes before the root in its variable
local SHAPES = { { levels = 2, bits = 18, words = 1 }, { levels = 3, bits = 15, words = 2 } }

local function symbol(t, names)
	for _, name in ipairs(names) do
		if t:has_symbol(name) then return t:symbol(name) end
	end
end

-- Sizes by class: jemalloc's own table.
local function class_sizes(t)
	local found = symbol(t, { "je_sz_index2size_tab", "je_index2size_tab" })
	if not found or not found.size then return nil end
	local sizes = record.words(t, found.addr, found.size // t.pointer_size)
	return sizes[1] == 8 and sizes or nil
end

-- The tree at the end of a variable of this size: its shape, root(address), and class_of(words, i): the class of page
-- i of a leaf.
local function tree_in(found, state_bits)
	for _, shape in ipairs(SHAPES) do
		local size = 8 << shape.bits
		if found.size >= size and found.size < size + BEFORE_ROOT then
			local function by_word(words, i) return words[i] ~= 0 and words[i] >> 48 end
			local function by_extent(words, i)
				return words[2 * i - 1] ~= 0 and (words[2 * i] & 0xffffffff) >> state_bits
			end
			return {
				shape = shape,
				root = found.addr + found.size - size,
				class_of = shape.words == 1 and by_word or by_extent,
			}
		end
	end
end

local function radix_tree(t)
	if t.pointer_size ~= 8 then return nil end
	local now, before = symbol(t, { "je_arena_emap_global" }), symbol(t, { "je_extents_rtree" })
	if now and now.size then return tree_in(now, 5) end
	return before and before.size and tree_in(before, 0) or nil
end

-- Sizes by page of one chunk of 512 pages, from 1; false if jemalloc has no block there.
local function chunk_sizes(t, tree, chunk, sizes)
	local shape, first, found = tree.shape, chunk * CHUNK, {}
	local mask, node = (1 << shape.bits) - 1, tree.root
	for level = shape.levels - 1, 1, -1 do
		node = node ~= 0 and t:u64(node + 8 * (first >> level * shape.bits & mask)) or 0
	end
	local words = node ~= 0 and record.words(t, node + 8 * shape.words * (first & mask), CHUNK * shape.words)
	for i = 1, CHUNK do
		local class = words and tree.class_of(words, i)
		found[i] = class and sizes[class + 1] or false
	end
	return found
end

-- A function from an address to the bytes of its block, by the class of its page; false if there is no block.
local function by_page(t, tree, sizes)
	local chunks = {}
	return function(at)
		local page = at >> PAGE_BITS
		local chunk = chunks[page // CHUNK]
		if not chunk then
			chunk = chunk_sizes(t, tree, page // CHUNK, sizes)
			chunks[page // CHUNK] = chunk
		end
		return chunk[page % CHUNK + 1]
	end
end

-- jemalloc's classes: 8, multiples of 16 up to 128, then four per doubling.
local function class_of(wanted)
	if wanted < 0 or wanted > LARGEST then fault.raise("a block of %s bytes", xcore.u64(wanted)) end
	if wanted <= 8 then return 8 end
	local step = 16
	while step * 8 < wanted do step = step * 2 end
	return (wanted + step - 1) // step * step
end

local function jemalloc(t)
	local tree, sizes = radix_tree(t), class_sizes(t)
	if not tree or not sizes then
		return { name = "jemalloc", exact = false, size = function(_, wanted) return class_of(wanted) end }
	end
	local find = by_page(t, tree, sizes)
	return {
		name = "jemalloc", exact = true, by_page = find,
		size = function(at, wanted) return find(at) or class_of(wanted) end,
	}
end

local function glibc(t)
	local word = t.pointer_size
	return {
		name = "libc", exact = true,
		size = function(at)
			local head = t:ptr(at - word)
			local bytes = (head & ~7) - (head & 2 ~= 0 and 2 * word or word)
			if bytes < 0 or bytes > LARGEST then fault.raise("a block of %s bytes", xcore.u64(bytes)) end
			return bytes
		end,
	}
end

local function other(name)
	return { name = name, exact = false, size = function(_, wanted) return wanted end }
end

local function detect(t)
	if t:has_symbol("mallocx") or t:has_symbol("je_malloc") then return jemalloc(t) end
	if t:has_symbol("tc_malloc") then return other("tcmalloc") end
	if t:module("libc.so.6") or t:has_symbol("_IO_2_1_stdout_") then return glibc(t) end
	return other("unknown")
end

-- The allocator of a target: its name; exact: are sizes read from the allocator, not rounded here; size(at, wanted):
-- bytes of the block at an address for a request of `wanted` bytes; sds(at): bytes of the block of a string.
function alloc.of(t)
	local found = detect(t)
	local size = found.size
	local function by_header(at)
		local len, capacity, header = sds.header(t, at)
		return size(at - header, header + (capacity or len) + 1)
	end
	-- The header is in the page of the string except for its first bytes, and all blocks of a page have one class.
	local function by_place(at)
		return at & 0xfff >= sds.LONGEST_HEADER and found.by_page(at) or by_header(at)
	end
	found.sds = found.by_page and by_place or by_header
	return found
end

return alloc
