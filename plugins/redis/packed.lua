-- packed.lua: values that Redis packs into one block of bytes, read from a copy of it. All numbers in them are
-- little-endian.
--
--     listpack:  bytes:4 count:2 | (encoding data backwards-length)* | 0xff          listpack.c
--     ziplist:   bytes:4 tail:4 count:2 | (previous-length encoding data)* | 0xff    ziplist.c
--     intset:    width:4 count:4 | integers                                          intset.c
--     LZF:       runs of literal bytes and references back                           lzf_d.c
--
-- A damaged block raises a fault.
local fault = require "redis.fault"

local packed = {}

local function damaged(what) fault.raise("a damaged %s", what) end

-- Wraps fn: every error about the data that it reads becomes damage of a `what`.
local function guarded(what, fn)
	return function(...)
		local done, result = pcall(fn, ...)
		if done then return result end
		if type(result) == "string" then damaged(what) end
		error(result, 0)
	end
end

-- A signed integer of the low `bits` bits.
local function signed(value, bits)
	local top = 1 << (bits - 1)
	return (value & (top - 1)) - (value & top)
end

-- The size of the length field after an element.
local function backwards(len)
	if len <= 127 then return 1 elseif len < 16383 then return 2 elseif len < 2097151 then return 3 end
	return len < 268435455 and 4 or 5
end

local WIDE = { [0xf1] = "<i2", [0xf2] = "<i3", [0xf3] = "<i4", [0xf4] = "<i8" }

-- The element at `at`: value, length of encoding and data.
local function listpack_element(bytes, at)
	local first, second = bytes:byte(at, at + 1)
	if first < 0x80 then return first, 1 end
	if first < 0xc0 then return bytes:sub(at + 1, at + (first & 63)), 1 + (first & 63) end
	if first < 0xe0 then return signed((first & 31) << 8 | second, 13), 2 end
	if first < 0xf0 then
		local len = (first & 15) << 8 | second
		return bytes:sub(at + 2, at + 1 + len), 2 + len
	end
	if first == 0xf0 then
		local len = string.unpack("<I4", bytes, at + 1)
		return bytes:sub(at + 5, at + 4 + len), 5 + len
	end
	if not WIDE[first] then damaged "listpack" end
	local value, next = string.unpack(WIDE[first], bytes, at + 1)
	return value, next - at
end

-- The first `most` elements: strings and integers.
local function read_listpack(bytes, most)
	local list, at = {}, 7
	while #list < most do
		local first = bytes:byte(at)
		if first == 0xff then break end
		local value, len = listpack_element(bytes, at)
		list[#list + 1] = value
		at = at + len + backwards(len)
	end
	return list
end

local ZIP_INTEGERS = { [0xc0] = "<i2", [0xd0] = "<i4", [0xe0] = "<i8", [0xf0] = "<i3", [0xfe] = "<i1" }

local function ziplist_element(bytes, at)
	at = at + (bytes:byte(at) < 254 and 1 or 5)
	local first, second = bytes:byte(at, at + 1)
	local len, from
	if first < 0x40 then
		len, from = first, at + 1
	elseif first < 0x80 then
		len, from = (first & 63) << 8 | second, at + 2
	elseif first < 0xc0 then
		len, from = string.unpack(">I4", bytes, at + 1), at + 5
	end
	if len then return bytes:sub(from, from + len - 1), from + len end
	if first > 0xf0 and first < 0xfe then return (first & 15) - 1, at + 1 end
	if not ZIP_INTEGERS[first] then damaged "ziplist" end
	return string.unpack(ZIP_INTEGERS[first], bytes, at + 1)
end

local function read_ziplist(bytes, most)
	local list, at = {}, 11
	while #list < most do
		local first = bytes:byte(at)
		if first == 0xff then break end
		list[#list + 1], at = ziplist_element(bytes, at)
	end
	return list
end

local function read_intset(bytes, most)
	local width, count = string.unpack("<I4I4", bytes)
	if width ~= 2 and width ~= 4 and width ~= 8 then damaged "intset" end
	local list, format = {}, "<i" .. width
	for i = 0, math.min(count, most) - 1 do list[i + 1] = string.unpack(format, bytes, 9 + i * width) end
	return list
end

-- Copies `len` bytes from `back` bytes before the end of the output; the ranges may overlap.
local function copy_back(out, back, len)
	if back > #out then damaged "LZF block" end
	local source = out:sub(#out - back + 1)
	return out .. source:rep(len // #source + 1):sub(1, len)
end

-- The `size` bytes that an LZF block decompresses to.
local function read_lzf(bytes, size)
	local out, at = "", 1
	while at <= #bytes do
		local control = bytes:byte(at)
		if control < 32 then
			out = out .. bytes:sub(at + 1, at + 1 + control)
			at = at + 2 + control
		else
			local len = control >> 5
			if len == 7 then
				at = at + 1
				len = 7 + (bytes:byte(at) or 0)
			end
			out = copy_back(out, ((control & 31) << 8 | (bytes:byte(at + 1) or 0)) + 1, len + 2)
			at = at + 2
		end
		if #out > size then break end
	end
	if #out ~= size then damaged "LZF block" end
	return out
end

packed.listpack = guarded("listpack", read_listpack)
packed.ziplist = guarded("ziplist", read_ziplist)
packed.intset = guarded("intset", read_intset)
packed.lzf = guarded("LZF block", read_lzf)

return packed
