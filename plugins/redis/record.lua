-- record.lua: members of a struct as numbers.
--
-- A walk over millions of structs must not make a value of each, nor a string: a string of up to 40 bytes is looked up among all that
-- Lua has, which costs more than the reading. Offsets come from the debug information, once.
local xcore = require "xcore"

local record = {}

-- What reads an unsigned word of the target's size: a little faster than t.ptr.
function record.word(t) return t.pointer_size == 8 and t.u64 or t.u32 end

-- A function from an address to two or three members, as unsigned numbers; they must be as wide as a pointer. It raises what
-- t:u64 raises.
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
	words[count + 1] = nil -- the position behind
	return words
end

return record
