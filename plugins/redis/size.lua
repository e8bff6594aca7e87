-- size.lua: the memory of a value, as in MEMORY USAGE (object.c, objectComputeSize of 7.0): blocks by their allocated
-- size, structs by their size, and elements beyond the first `samples` by the average of those. For streams, the size
-- is Redis's own estimate.
local xcore = require "xcore"
local names = require "redis.names"
local record = require "redis.record"
local dict = require "redis.dict"
local rax = require "redis.rax"

local size = {}

size.ALL = math.maxinteger
size.DEFAULT_SAMPLES = 5

-- Redis adds a quotient of doubles to an integer and drops the fraction.
local function scaled(total, seen, sum, count)
	return seen == 0 and total or math.tointeger(math.floor(total + sum / seen * count)) or total
end

local function sizes_of(list)
	local sizes = {}
	for _, name in ipairs(list) do sizes[name] = xcore.sizeof(name) end
	return sizes
end

-- As in Brent's cycle detection: the position after 0, 1, 3, 7, … nodes; a walk that returns to it is in a cycle.
local function marked(seen, at, mark)
	return seen & seen + 1 == 0 and at or mark
end

local function int(s)
	return function() return s.robj end
end

local function raw(s)
	return function(_, ptr) return s.robj + s.alloc.sds(ptr) end
end

-- The object, a header of three bytes, the string and its NUL in one block.
local function embstr(s)
	local t, block, by_page = s.t, s.alloc.size, s.alloc.by_page
	local fixed = s.robj + 4
	local function by_length(at, ptr) return block(at, fixed + t:u8(ptr - 3)) end
	if not by_page then return by_length end
	return function(at, ptr) return by_page(at) or by_length(at, ptr) end
end

-- A value in one block; its first four bytes are its used size.
local function packed(s)
	return function(_, ptr) return s.robj + s.alloc.size(ptr, s.t:u32(ptr, "little")) end
end

local function intset(s)
	return function(_, ptr)
		return s.robj + s.alloc.size(ptr, 8 + s.t:u32(ptr, "little") * s.t:u32(ptr + 4, "little"))
	end
end

local function quicklist(s)
	local t, fixed = s.t, sizes_of { "quicklist", "quicklistNode" }
	local entry = xcore.has(t:type "quicklistNode", "entry") and "entry" or "zl"
	local node = record.of(t, "quicklistNode", { "next", entry, "sz" })
	local list = record.of(t, "quicklist", { "head", "len" })
	return function(_, ptr, samples)
		local at, nodes = list(ptr)
		local sum, seen, mark = 0, 0, 0
		while at ~= 0 and seen < samples do
			local next, block, used = node(at)
			sum, seen, mark = sum + fixed.quicklistNode + s.alloc.size(block, used), seen + 1, marked(seen, at, mark)
			at = next
			if seen > nodes or at == mark then break end -- it grew, or is a cycle
		end
		return scaled(s.robj + fixed.quicklist, seen, sum, nodes)
	end
end

-- A hash table of strings; `both`: the values are also strings.
local function table_of_strings(s, both)
	local t, alloc = s.t, s.alloc
	local fixed = sizes_of { "dict", "dictEntry" }
	local word = t.pointer_size
	return function(_, ptr, samples)
		local d = t:value("dict", ptr)
		local sum, seen = 0, 0
		dict.walk(t, d, function(key, value)
			sum = sum + fixed.dictEntry + alloc.sds(key) + (both and alloc.sds(value) or 0)
			seen = seen + 1
			return seen < samples
		end)
		return scaled(s.robj + fixed.dict + word * dict.slots(d), seen, sum, dict.used(d))
	end
end

local function keys(s) return table_of_strings(s, false) end
local function pairs_of_strings(s) return table_of_strings(s, true) end

local function skiplist(s)
	local t, alloc = s.t, s.alloc
	local fixed = sizes_of { "zset", "zskiplist", "dict", "dictEntry", "zskiplistNode" }
	local node = record.of(t, "zskiplistNode", { "ele", "level[0].forward" })
	local word = t.pointer_size
	return function(_, ptr, samples)
		local set = t:value("zset", ptr)
		local header = xcore.addr(set.zsl.header)
		local _, at = node(header)
		local count = dict.used(set.dict)
		local sum, seen, mark = 0, 0, 0
		while at ~= 0 and at ~= mark and seen < samples and seen <= count do
			local ele, next = node(at)
			sum = sum + alloc.sds(ele) + fixed.dictEntry + alloc.size(at, fixed.zskiplistNode + 2 * word)
			seen, mark, at = seen + 1, marked(seen, at, mark), next
		end
		local total = s.robj + fixed.zset + fixed.zskiplist + fixed.dict + word * dict.slots(set.dict) +
			alloc.size(header, fixed.zskiplistNode + 2 * word * 32)
		return scaled(total, seen, sum, count)
	end
end

-- Redis's estimate of a radix tree that holds stream ids.
local function id_tree(fixed, tree)
	return tree.numele * fixed.streamID + tree.numnodes * (fixed.raxNode + 30 * xcore.target.pointer_size)
end

local function groups(s, fixed, tree)
	local t, total = s.t, 0
	rax.each(t, tree, function(_, at)
		local group = t:value("streamCG", at)
		total = total + fixed.streamCG + id_tree(fixed, group.pel) + fixed.streamNACK * group.pel.numele
		rax.each(t, group.consumers, function(_, consumer_at)
			local consumer = t:value("streamConsumer", consumer_at)
			local name = require "redis.sds".header(t, xcore.addr(consumer.name))
			total = total + fixed.streamConsumer + name + id_tree(fixed, consumer.pel)
		end)
	end)
	return total
end

local function stream(s)
	local t = s.t
	local fixed = sizes_of { "stream", "streamID", "raxNode", "streamCG", "streamNACK", "streamConsumer" }
	local function block(at) return s.alloc.size(at, t:u32(at, "little")) end
	return function(_, ptr, samples)
		local value = t:value("stream", ptr)
		local count = value.rax.numele
		local sum, seen, last = 0, 0, nil
		rax.each(t, value.rax, function(_, at)
			if seen < samples then sum, seen = sum + block(at), seen + 1 end
			last = at
		end)
		if count > seen and seen > 0 then sum = sum // seen * (count - 1) + block(last) end
		return s.robj
			+ fixed.stream
			+ id_tree(fixed, value.rax)
			+ sum
			+ (value.cgroups and groups(s, fixed, value.cgroups) or 0)
	end
end

-- By type and encoding: makes the function from an object's address, its pointer and the number of samples to bytes.
local METHODS = {
	[names.STRING] = { [names.INT] = int, [names.RAW] = raw, [names.EMBSTR] = embstr },
	[names.LIST] = { [names.QUICKLIST] = quicklist, [names.LISTPACK] = packed, [names.ZIPLIST] = packed },
	[names.SET] = { [names.HASHTABLE] = keys, [names.INTSET] = intset, [names.LISTPACK] = packed },
	[names.HASH] = { [names.HASHTABLE] = pairs_of_strings, [names.LISTPACK] = packed, [names.ZIPLIST] = packed },
	[names.ZSET] = { [names.SKIPLIST] = skiplist, [names.LISTPACK] = packed, [names.ZIPLIST] = packed },
	[names.STREAM] = { [names.RADIX] = stream },
}

local function unknown() return nil end

-- A function of type and encoding to the method that sizes such values: method(at, ptr, samples) takes the address of
-- the object, its pointer and the number of elements to examine, and returns bytes; nil for values of modules and
-- unknown encodings.
function size.of(t, alloc)
	local shared = { t = t, alloc = alloc, robj = xcore.sizeof("robj") }
	local made = {}
	return function(type, encoding)
		local kind = type << 8 | encoding
		if not made[kind] then
			local by_encoding = METHODS[type]
			local make = by_encoding and by_encoding[encoding]
			made[kind] = make and make(shared) or unknown
		end
		return made[kind]
	end
end

return size
