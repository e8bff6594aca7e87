-- siphash.lua: SipHash-1-2, which places keys in Redis's tables (siphash.c, since 4.0; Aumasson and Bernstein 2012,
-- with one round per word and two at the end).

local function rotate(x, by) return x << by | x >> (64 - by) end

local function round(a, b, c, d)
	a, c = a + b, c + d
	b, d = rotate(b, 13) ~ a, rotate(d, 16) ~ c
	a, c = rotate(a, 32) + d, c + b
	d, b = rotate(d, 21) ~ a, rotate(b, 17) ~ c
	return a, b, rotate(c, 32), d
end

-- The hash of a text with a seed of 16 bytes.
return function(text, seed)
	local low, high = string.unpack("<I8I8", seed)
	local a, b = 0x736f6d6570736575 ~ low, 0x646f72616e646f6d ~ high
	local c, d = 0x6c7967656e657261 ~ low, 0x7465646279746573 ~ high
	local tail = #text & 7
	local padded = text .. ("\0"):rep(7 - tail) .. string.char(#text & 255)
	for at = 1, #padded, 8 do
		local word = string.unpack("<I8", padded, at)
		a, b, c, d = round(a, b, c, d ~ word)
		a = a ~ word
	end
	a, b, c, d = round(a, b, c ~ 0xff, d)
	a, b, c, d = round(a, b, c, d)
	return a ~ b ~ c ~ d
end
