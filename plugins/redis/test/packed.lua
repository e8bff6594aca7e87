-- Packed values byte by byte: encodings as described in listpack.c, ziplist.c, intset.c and lzf_d.c of Redis 7.0.
local function bytes(hex)
	return (hex:gsub("%s", ""):gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end))
end

local function same(list, wanted)
	assert(#list == #wanted, #list .. " elements")
	for i, value in ipairs(wanted) do
		assert(list[i] == value, ("element %d is %s"):format(i, tostring(list[i])))
	end
end

local function fails(fn, ...)
	local done, err = pcall(fn, ...)
	assert(not done and err.kind == "fault", "damage was not noticed")
end

local LONG = ("x"):rep(300)

-- A listpack of encoded elements; backward lengths take one byte, or are given.
local function listpack(...)
	local body = table.concat({ ... })
	return string.pack("<I4I2", 7 + #body, select("#", ...)) .. body .. "\xff"
end

local EMPTY = { objects = {}, cdef = "" }

return {
	{
		name = "a listpack's integers of every width", fixture = EMPTY,
		run = function()
			local packed = require "redis.packed"
			local all = listpack(bytes "7f 01", bytes "df ff 02", bytes "c0 80 02", bytes "f1 00 80 03", bytes "f2 01 00 80 04",
				bytes "f3 ff ff ff 7f 05", bytes "f4 00 00 00 00 00 00 00 80 09")
			same(packed.listpack(all, 100), { 127, -1, 128, -32768, -8388607, 2147483647, math.mininteger })
			same(packed.listpack(all, 2), { 127, -1 })
		end,
	},
	{
		name = "a listpack's strings of every length", fixture = EMPTY,
		run = function()
			local all = listpack("\x80\x01", "\x83abc\x04", bytes "e1 2c" .. LONG .. bytes "82 ae",
				"\xf0\x03\x00\x00\x00xyz\x08")
			same(require("redis.packed").listpack(all, 100), { "", "abc", LONG, "xyz" })
		end,
	},
	{
		name = "a ziplist's entries; the first is the example in ziplist.c", fixture = EMPTY,
		run = function()
			local packed = require "redis.packed"
			same(packed.ziplist(bytes "0f 00 00 00 0c 00 00 00 02 00 00 f3 02 f6 ff", 100), { 2, 5 })
			local body = bytes "00 0b" .. "Hello World" .. bytes "0d 41 2c" .. LONG .. bytes "fe 2f 01 00 00 c0 fe ff" ..
				bytes "08 f0 00 00 80 05 d0 00 00 00 80 06 e0 01 00 00 00 00 00 00 80 0a fe 85"
			same(packed.ziplist(("\0"):rep(10) .. body .. "\xff", 100), { "Hello World", LONG, -2, -8388608, -2147483648,
				math.mininteger + 1, -123 })
		end,
	},
	{
		name = "intsets of every width", fixture = EMPTY,
		run = function()
			local packed = require "redis.packed"
			same(packed.intset(bytes "02000000 02000000 feff 0300", 100), { -2, 3 })
			same(packed.intset(bytes "04000000 01000000 00000080", 100), { -2147483648 })
			same(packed.intset(bytes "08000000 01000000 ffffffffffffffff", 100), { -1 })
		end,
	},
	{
		name = "LZF: literals, references, long overlapping references", fixture = EMPTY,
		run = function()
			local lzf = require("redis.packed").lzf
			assert(lzf(bytes "02 616263", 3) == "abc")
			assert(lzf(bytes "02 616263 20 02", 6) == "abcabc")
			assert(lzf(bytes "00 61 e0 10 00", 26) == ("a"):rep(26))
		end,
	},
	{
		name = "damaged blocks raise errors", fixture = EMPTY,
		run = function()
			local packed = require "redis.packed"
			fails(packed.listpack, listpack "\x83abc\x04":sub(1, -3), 100)
			fails(packed.listpack, listpack "\xf7\x00", 100)
			fails(packed.ziplist, ("\0"):rep(11), 100)
			fails(packed.intset, bytes "03000000 02000000 feff 0300", 100)
			fails(packed.lzf, bytes "02 616263 20 09", 6)
			fails(packed.lzf, bytes "02 616263", 2)
		end,
	},
	{
		name = "globs in the syntax of KEYS", fixture = EMPTY,
		run = function()
			local pattern = require("redis.glob").pattern
			local function matches(glob, text) return text:find(pattern(glob)) ~= nil end
			assert(matches("*t:[13]*", "list:123") and not matches("*t:[13]*", "list:2"))
			assert(matches("h?llo", "hello") and not matches("h?llo", "hllo"))
			assert(matches("h[^e]llo", "hallo") and not matches("h[^e]llo", "hello"))
			assert(matches("h[a-b]llo", "hbllo") and not matches("h[a-b]llo", "hcllo"))
			assert(matches("a\\*b", "a*b") and not matches("a\\*b", "axb"))
			assert(matches("100%", "100%") and matches("k[", "k[") and matches("*", ""))
		end,
	},
	{
		name = "SipHash-1-2 as in siphash.c", fixture = EMPTY,
		run = function()
			local hash, seed = require "redis.siphash", "0123456789abcdef"
			assert(hash("", seed) == 0xa65f2c0671589ee8)
			assert(hash("hello", seed) == 0xd72958ed3c21772b)
			assert(hash("a longer text of many bytes!", seed) == 0x4c117a22f5503cf5)
		end,
	},
}
