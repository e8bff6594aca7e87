-- args.lua: the arguments of the plugin's commands.
local xcore = require "xcore"

local args = {}

local function usage(format, ...)
	error(xcore.error("usage", format:format(...)))
end

-- A number in user syntax: 12, 0x5581….
function args.number(what, text)
	local value = text and math.tointeger(tonumber(text))
	if not value or value < 0 then usage("%s needs a number, not '%s'", what, text or "") end
	return value
end

-- Parses options described by `known`, { limit = "number", raw = "flag", match = "text" }, into a table; other
-- arguments are at 1, 2, …, at most `most` (default 0).
function args.parse(list, known, most)
	local parsed, i = {}, 1
	while i <= #list do
		local name, value = list[i]:match "^%-%-([%w-]+)=?(.*)$"
		local kind = name and known[name]
		if not name then
			parsed[#parsed + 1] = list[i]
		elseif not kind then
			usage("unknown option '%s'", list[i])
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
