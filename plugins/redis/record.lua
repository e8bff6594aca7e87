-- record.lua: members of a struct as numbers.
--
-- A walk over millions of structs must not create a value or a string for each: Lua interns strings of up to 40
-- bytes, which costs more than the read. Offsets come from the debug information, once.
local xcore = require "xcore"

local record = {}

-- Reads an unsigned word of the target's size, a little faster than t.ptr.
function record.word(t) return t.pointer_size == 8 and t.u64 or t.u32 end

-- A function from an address to two or three members, as unsigned numbers; they must have the size of a pointer. It
-- raises the errors of t:u64.
function record.of(t, type, paths)
	local word = record.word(t)
	local first, second = xcore.offsetof(type, paths[1]), xcore.offsetof(type, paths[2])
	local third = paths[3] and xcore.offsetof(type, paths[3])
	if not third then
		return function(at) return word(t, at + first), word(t, at + second) end
	end
	return function(at) return word(t, at + first), word(t, at + second), word(t, at + third) end
end

-- `count` words of the target's size at an address, as a table from 1.
function record.words(t, at, count)
	local format = (t.endian == "big" and ">" or "<") .. ("I" .. t.pointer_size):rep(count)
	local words = { string.unpack(format, t:read(at, count * t.pointer_size)) }
	words[count + 1] = nil -- the position after the last word
	return words
end

return record
