-- object.lua: Redis objects, the representation of every value, key argument and client name.
--
--     | type:4 encoding:4 lru:24 | refcount | ptr |          server.h, 4.0 to 7.4
local xcore = require "xcore"
local fault = require "redis.fault"
local names = require "redis.names"
local record = require "redis.record"
local sds = require "redis.sds"

local object = {}

-- A function from the address of an object to type, encoding and pointer. Raises a fault if it cannot be an object.
function object.reader(t)
	local big, ptr_at = t.endian == "big", xcore.offsetof("robj", "ptr")
	local byte, word = t.u8, record.word(t)
	return function(at)
		local kinds, ptr = byte(t, at), word(t, at + ptr_at)
		local type, encoding = kinds & 15, kinds >> 4
		if big then type, encoding = encoding, type end
		if type > names.STREAM or encoding > 12 then
			fault.raise("%#x is not a Redis object", at)
		end
		return type, encoding, ptr
	end
end

-- The contents of a string object, at most `max` bytes, and its full length. `value` is a robj or its address.
-- Returns nil for nil and for other types.
function object.text(t, value, max)
	if not value or value == 0 then return nil end
	local at = math.type(value) and value or xcore.addr(value)
	local type, encoding, ptr = object.reader(t)(at)
	if type ~= names.STRING then return nil end
	if encoding == names.INT then
		local text = ("%d"):format(ptr)
		return text, #text
	end
	return sds.text(t, ptr, max)
end

-- Text in redis-cli syntax: plain words unchanged, anything else in quotes.
function object.quoted(text, len)
	if not text then return "(unknown)" end
	local more = len and len > #text and ("... (%d bytes)"):format(len) or ""
	if text:find("^[%w%p]+$") and not text:find("[\"\\]") then return text .. more end
	local inner = text:gsub("[%c\"\\\x7f-\xff]", function(c)
		if c == "\"" or c == "\\" then return "\\" .. c end
		return ("\\x%02x"):format(c:byte())
	end)
	return "\"" .. inner .. "\"" .. more
end

-- Arguments of a command as one line; `argv` is an array of robj pointers. At most `most` of them.
function object.line(t, argv, argc, most)
	local words = {}
	for i = 0, math.min(argc, most) - 1 do
		words[#words + 1] = object.quoted(object.text(t, argv[i], 128))
	end
	if argc > most then words[#words + 1] = ("... (%d more arguments)"):format(argc - most) end
	return table.concat(words, " ")
end

return object
