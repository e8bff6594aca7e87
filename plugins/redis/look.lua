-- look.lua: reads a value: its number of elements, and the first elements.
local xcore = require "xcore"
local dict = require "redis.dict"
local fault = require "redis.fault"
local names = require "redis.names"
local packed = require "redis.packed"
local rax = require "redis.rax"
local record = require "redis.record"
local sds = require "redis.sds"

local look = {}

local LONGEST_BLOCK = 16 << 20 -- maximum length of a packed block here
local LONGEST_ELEMENT = 256
local LONGEST_LIST = 1 << 20 -- maximum number of nodes skipped

-- A copy of the block at an address; its first four bytes are its length.
local function block(t, at)
	local len = t:u32(at, "little")
	if len > LONGEST_BLOCK then fault.raise("a packed value of %d bytes", len) end
	return t:read(at, len)
end

local function listpack(t, ptr, most) return packed.listpack(block(t, ptr), most) end
local function ziplist(t, ptr, most) return packed.ziplist(block(t, ptr), most) end

local function intset(t, ptr, most)
	local width, count = t:u32(ptr, "little"), t:u32(ptr + 4, "little")
	return packed.intset(t:read(ptr, 8 + math.min(width, 8) * math.min(count, most)), most)
end

-- The bytes of a quicklist node: a packed block, decompressed if necessary.
local function node_bytes(t, node)
	local at = xcore.addr(xcore.has(node, "entry") and node.entry or node.zl)
	if math.ult(LONGEST_BLOCK, node.sz) then fault.raise("a list node of more than 16 MiB") end
	if node.encoding ~= 2 then return t:read(at, node.sz) end
	local len = t:ptr(at)
	if math.ult(LONGEST_BLOCK, len) then fault.raise("a list node of more than 16 MiB") end
	return packed.lzf(t:read(at + t.pointer_size, len), node.sz)
end

local function node_elements(t, node, most)
	local bytes = node_bytes(t, node)
	if node.container == 1 then return { bytes } end
	return xcore.has(node, "entry") and packed.listpack(bytes, most) or packed.ziplist(bytes, most)
end

local function quicklist(t, ptr, most)
	local list, node, steps = {}, t:value("quicklist", ptr).head, 0
	while node and #list < most and steps < LONGEST_LIST do
		for _, element in ipairs(node_elements(t, node, most - #list)) do list[#list + 1] = element end
		node, steps = node.next, steps + 1
	end
	return list
end

local function hashtable(t, ptr, most, both)
	local list = {}
	if most == 0 then return list end
	dict.walk(t, t:value("dict", ptr), function(key, value)
		list[#list + 1] = sds.text(t, key, LONGEST_ELEMENT)
		if both then list[#list + 1] = sds.text(t, value, LONGEST_ELEMENT) end
		return #list < most
	end)
	return list
end

local function score(number)
	return math.tointeger(number) or ("%.17g"):format(number)
end

local function skiplist(t, ptr, most)
	local list = {}
	local node = t:value("zset", ptr).zsl.header.level[0].forward
	while node and #list < most do
		list[#list + 1] = sds.text(t, xcore.addr(node.ele), LONGEST_ELEMENT)
		list[#list + 1] = score(node.score)
		node = node.level[0].forward
	end
	return list
end

-- The entries of one listpack of a stream. A master entry (count, deleted, names of fields, 0) comes first. Each
-- other entry has flags (1 deleted, 2 fields of the master), its id relative to the master's, fields and values, and
-- its length (t_stream.c).
local function stream_entries(elements, ms, seq, out, most)
	local fields = table.move(elements, 4, 3 + elements[3], 1, {})
	local at = 5 + #fields
	while elements[at] and #out < most do
		local flags, id =
			elements[at], ("%s-%s"):format(xcore.u64(ms + elements[at + 1]), xcore.u64(seq + elements[at + 2]))
		local parts, count = {}, #fields
		at = at + 3
		if flags & 2 == 0 then
			count, at = elements[at], at + 1
		end
		for i = 1, count do
			if flags & 2 ~= 0 then
				parts[i] = fields[i] .. " " .. elements[at]
				at = at + 1
			else
				parts[i] = elements[at] .. " " .. elements[at + 1]
				at = at + 2
			end
		end
		at = at + 1
		if flags & 1 == 0 then
			out[#out + 1] = id
			out[#out + 1] = table.concat(parts, " ")
		end
	end
end

local function stream(t, ptr, most)
	local list = {}
	rax.each(t, t:value("stream", ptr).rax, function(key, at)
		local ms, seq = string.unpack(">I8I8", key)
		stream_entries(listpack(t, at, math.maxinteger), ms, seq, list, most)
		return #list < most
	end)
	return list
end

local function string_look(t, ptr, encoding)
	if encoding == names.INT then return { ptr } end
	return { (sds.text(t, ptr, LONGEST_ELEMENT)) }
end

local BY_ENCODING = {
	[names.LISTPACK] = listpack, [names.ZIPLIST] = ziplist, [names.INTSET] = intset, [names.QUICKLIST] = quicklist,
	[names.SKIPLIST] = skiplist, [names.RADIX] = stream,
}

-- The first `most` elements of a value. For hashes and sorted sets, fields and values alternate; for streams, ids and
-- entries. nil if the encoding is unknown. Raises read errors.
function look.elements(t, type, encoding, ptr, most)
	if type == names.STRING then return string_look(t, ptr, encoding) end
	if encoding == names.HASHTABLE then return hashtable(t, ptr, most, type == names.HASH) end
	local read = BY_ENCODING[encoding]
	return read and read(t, ptr, most)
end

-- Do the elements of a type come in pairs?
function look.paired(type)
	return type == names.HASH or type == names.ZSET or type == names.STREAM
end

-- The number of elements of a packed block, from its own count unless there are 65535 or more.
local function packed_count(t, ptr, encoding)
	local count = t:u16(ptr + (encoding == names.ZIPLIST and 8 or 4), "little")
	if count < 65535 then return count end
	return #(encoding == names.ZIPLIST and ziplist or listpack)(t, ptr, math.maxinteger)
end

local function string_length(t, ptr, encoding)
	if encoding == names.INT then return #("%d"):format(ptr) end
	return (sds.header(t, ptr))
end

-- The number of elements of a value (of a string: bytes), as in STRLEN, LLEN, SCARD, HLEN, ZCARD and XLEN. nil:
-- unknown.
function look.count(t, type, encoding, ptr)
	if type == names.STRING then return string_length(t, ptr, encoding) end
	if encoding == names.HASHTABLE then return dict.used(t:value("dict", ptr)) end
	if encoding == names.QUICKLIST then return t:value("quicklist", ptr).count end
	if encoding == names.SKIPLIST then return dict.used(t:value("zset", ptr).dict) end
	if encoding == names.INTSET then return t:u32(ptr + 4, "little") end
	if encoding == names.RADIX then return t:value("stream", ptr).length end
	if encoding ~= names.LISTPACK and encoding ~= names.ZIPLIST then return nil end
	local count = packed_count(t, ptr, encoding)
	return (type == names.HASH or type == names.ZSET) and count // 2 or count
end

return look
