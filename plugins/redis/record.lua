-- record.lua: members of a struct as numbers, by one read and one unpack.
--
-- A walk over millions of structs must not make a value of each. Offsets come from the debug information, once.
local xcore = require "xcore"

local record = {}

local function order(t) return t.endian == "big" and ">" or "<" end

-- A function from an address to the members that `paths` name, as unsigned numbers. They must be as wide as a pointer, and be
-- named in the order in which they lie. It raises what t:read raises.
function record.of(t, type, paths)
	local format, size = order(t), 0
	for _, path in ipairs(paths) do
		local offset = xcore.offsetof(type, path)
		format = format .. ("x"):rep(offset - size) .. "I" .. t.pointer_size
		size = offset + t.pointer_size
	end
	local read, unpack = t.read, string.unpack
	return function(at)
		return unpack(format, read(t, at, size))
	end
end

-- `count` words of the target's size at an address, as a table from 1.
function record.words(t, at, count)
	local format = order(t) .. ("I" .. t.pointer_size):rep(count)
	local words = { string.unpack(format, t:read(at, count * t.pointer_size)) }
	words[count + 1] = nil -- the position behind
	return words
end

return record
