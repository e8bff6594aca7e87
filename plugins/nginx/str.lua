-- str.lua: ngx_str_t, and bytes in human-readable form.
--
--	ngx_str_t  | len | data |    no NUL after it (ngx_string.h)
local xcore = require "xcore"

local str = {}

local LONGEST = 1024

-- The bytes of an ngx_str_t, at most `max` (default 1024), and whether there are more. nil if it has none; a fault if
-- its memory cannot be read.
function str.text(v, max)
	max = max or LONGEST
	if v == nil then return nil end
	local data, len = v.data, v.len
	if data == nil then return nil end
	local cut = math.ult(max, len)
	return xcore.target:read(xcore.addr(data), cut and max or len), cut
end

-- The same, where a long text ends in "..."; nil if there is none or it cannot be read.
function str.try(v, max)
	local done, text, cut = pcall(str.text, v, max)
	if not done or text == nil then return nil end
	return cut and text .. "..." or text
end

-- The bytes between two pointers (a buffer's pos and last), at most `max`, and the full length; nil if the pointers
-- are out of order.
function str.between(from, to, max)
	if from == nil or to == nil then return nil end
	local lo, len = xcore.addr(from), xcore.addr(to) - xcore.addr(from)
	if len < 0 then return nil end
	return xcore.target:read(lo, math.min(len, max or LONGEST)), len
end

return str
