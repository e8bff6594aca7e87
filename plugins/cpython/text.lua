-- text: strings, integers, bytes: Python's leaves as Lua strings.
--
--	PyASCIIObject | ASCII characters                      state.compact, state.ascii
--	PyCompactUnicodeObject | 1, 2 or 4 bytes a character   state.compact
--	PyUnicodeObject -> data                                else (3.9 to 3.11)
local xcore = require "xcore"

local text = {}

local MOST_DIGITS = 64 -- of 30 bits: longer ones are shown partly

local function encode(bytes, width)
	if width == 1 then
		return (bytes:gsub("[\x80-\xff]", function(c) return utf8.char(c:byte()) end))
	end
	local parts, format = {}, width == 2 and "<I2" or "<I4"
	for i = 1, #bytes - width + 1, width do
		local code = string.unpack(format, bytes, i)
		parts[#parts + 1] = code <= 0x10ffff and utf8.char(code) or "?"
	end
	return table.concat(parts)
end

-- A str as UTF-8, at most `max` characters, and its length.
function text.of(t, addr, max)
	local head = t:value("PyASCIIObject", addr)
	local length, state = head.length, head.state
	local kind = state.kind
	if length < 0 or kind ~= 1 and kind ~= 2 and kind ~= 4 then
		error(xcore.error("format", xcore.hex(addr) .. " is not a valid string"))
	end
	local count = math.min(length, max or 65536)
	local at
	if state.compact ~= 0 then
		at = addr + xcore.sizeof(state.ascii ~= 0 and "PyASCIIObject" or "PyCompactUnicodeObject")
	else
		at = t:ptr(addr + xcore.offsetof("PyUnicodeObject", "data"))
	end
	return encode(t:read(at, count * kind), kind), length
end

-- text.of, or nil if it is not a string.
function text.maybe(t, v, max)
	if not v then return nil end
	local ok, found = pcall(text.of, t, math.type(v) and v or xcore.addr(v), max)
	return ok and found or nil
end

-- ---- integers ----

-- Digits of base 2^30 (or 2^15) to decimal, by schoolbook division.
local function decimal(digits, base)
	local groups = {}
	while #digits > 0 do
		local rest = 0
		for i = #digits, 1, -1 do
			local value = rest * base + digits[i]
			digits[i], rest = value // 1000000000, value % 1000000000
		end
		while #digits > 0 and digits[#digits] == 0 do digits[#digits] = nil end
		groups[#groups + 1] = rest
	end
	local parts = { tostring(groups[#groups] or 0) }
	for i = #groups - 1, 1, -1 do parts[#parts + 1] = ("%09d"):format(groups[i]) end
	return table.concat(parts)
end

local function digits_of(t, L, addr)
	local v = t:value("PyLongObject", addr)
	local width = xcore.sizeof "digit"
	if L.tagged_int then
		local tag = v.long_value.lv_tag
		return xcore.addr(xcore.ref(v, "long_value.ob_digit")), tag >> 3, tag & 3 == 2, width
	end
	local size = t:i64(addr + L.ob_size)
	return xcore.addr(xcore.ref(v, "ob_digit")), math.abs(size), size < 0, width
end

-- An int in decimal, and as a Lua integer if it is small.
function text.integer(t, L, addr)
	local at, count, negative, width = digits_of(t, L, addr)
	if count > MOST_DIGITS then return ("<int of %d bits>"):format(count * (width == 4 and 30 or 15)) end
	local digits = {}
	for i = 1, count do digits[i] = width == 4 and t:u32(at + (i - 1) * 4) or t:u16(at + (i - 1) * 2) end
	local value = decimal(digits, width == 4 and 1 << 30 or 1 << 15)
	return negative and "-" .. value or value
end

-- ---- as Python writes them ----

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\" }

local function quoted(s, pattern)
	local quote = (s:find("'", 1, true) and not s:find('"', 1, true)) and '"' or "'"
	s = s:gsub(pattern, function(c)
		return ESCAPES[c] or c == quote and "\\" .. c or c ~= "'" and c ~= '"' and ("\\x%02x"):format(c:byte()) or c
	end)
	return quote .. s .. quote
end

-- repr of a str, cut at `max` characters.
function text.repr(t, addr, max)
	local s, length = text.of(t, addr, max)
	return quoted(s, "[%c\\'\"\x7f]") .. (max and length > max and "..." or "")
end

function text.repr_bytes(t, L, addr, max)
	local size = t:i64(addr + L.ob_size)
	if size < 0 then error(xcore.error("format", "bytes of negative size")) end
	return "b"
		.. quoted(t:read(addr + L.items.bytes, math.min(size, max)), "[%c\\'\"\x7f-\xff]")
		.. (size > max and "..." or "")
end

-- repr of a float: the shortest text that reads back.
function text.repr_float(value)
	if value ~= value then return "nan" end
	if value == math.huge then return "inf" end
	if value == -math.huge then return "-inf" end
	local s
	for precision = 1, 17 do
		s = ("%." .. precision .. "g"):format(value)
		if tonumber(s) == value then break end
	end
	local mantissa, exponent = s:match "^(.-)e([+-]%d+)$"
	exponent = tonumber(exponent)
	if exponent and exponent >= -4 and exponent < 16 then
		s = ("%.0f"):format(value)
	elseif mantissa then
		return s
	end
	return s:find "[.e]" and s or s .. ".0"
end

return text
