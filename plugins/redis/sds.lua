-- sds.lua: Redis strings. A header of one of five sizes precedes the bytes; the byte before the string selects the
-- size.
--
--     | len | alloc | flags | bytes … | NUL |         flags & 7: 0 to 4; of 0 the length is in flags >> 3
--
-- Redis sds.h, unchanged since 3.2.
local fault = require "redis.fault"

local sds = {}

local FIELD = { 1, 2, 4, 8 } -- bytes of len, and of alloc
local HEADER = { [0] = 1, 3, 5, 9, 17 }
sds.LONGEST_HEADER = 17

-- Length, capacity (nil if the header has none) and size of the header.
function sds.header(t, at)
	local flags = t:u8(at - 1)
	local kind = flags & 7
	if kind == 0 then return flags >> 3, nil, 1 end
	local size, field = HEADER[kind], FIELD[kind]
	if not size then fault.raise("the string at %#x has no SDS header", at) end
	local order = t.endian == "big" and ">" or "<"
	local len, capacity = string.unpack(order .. "I" .. field .. "I" .. field, t:read(at - size, 2 * field))
	return len, capacity, size
end

-- At most `max` bytes of the string at an address, and its full length.
function sds.text(t, at, max)
	local len = sds.header(t, at)
	local wanted = math.ult(max, len) and max or len
	return wanted == 0 and "" or t:read(at, wanted), len
end

return sds
