-- args: the arguments of a plugin's commands: --NAME VALUE or --NAME=VALUE, flags, and others by position.
local xcore = require "xcore"

local args = {}

local function usage(format, ...)
	error(xcore.error("usage", format:format(...)))
end

-- A number in user syntax, 0 or more: 12, 0x5581….
function args.number(what, text)
	local value = math.tointeger(tonumber(text or ""))
	if not value or value < 0 then usage("%s needs a number, not '%s'", what, text or "") end
	return value
end

-- An address; unlike a number, it may exceed 2^63.
function args.address(text, what)
	local addr = math.tointeger(tonumber(text or ""))
	if not addr then usage("%s needs an address", what) end
	return addr
end

-- Parses options described by `known`, { limit = "number", raw = "flag", match = "text" }, into a table; other
-- arguments are at 1, 2, …, at most `most` (default 0).
function args.parse(list, known, most)
	local parsed, i = {}, 1
	while i <= #list do
		local name, value = list[i]:match "^%-%-([^=]+)=?(.*)$"
		local kind = name and known[name]
		if not name then
			parsed[#parsed + 1] = list[i]
		elseif not kind then
			usage("unknown option --%s", name)
		elseif kind == "flag" then
			parsed[name] = true
		else
			if value == "" then i, value = i + 1, list[i + 1] end
			if not value then usage("--%s needs a value", name) end
			parsed[name] = kind == "number" and args.number("--" .. name, value) or value
		end
		i = i + 1
	end
	if #parsed > (most or 0) then usage("unexpected argument '%s'", parsed[#parsed]) end
	return parsed
end

return args
