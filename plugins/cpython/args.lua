-- args: the arguments of commands.
local xcore = require "xcore"

local args = {}

local function number(name, text)
	local found = math.tointeger(tonumber(text or ""))
	if not found or found < 0 then error(xcore.error("usage", ("--%s needs a number"):format(name))) end
	return found
end

-- Options described by `known` ({ limit = "number", type = "text", locals = "flag" }), other arguments from 1, at
-- most `most`.
function args.parse(list, known, most)
	local parsed, i = {}, 1
	while i <= #list do
		local name = list[i]:match "^%-%-(.+)$"
		local kind = name and known[name]
		if name and not kind then error(xcore.error("usage", "unknown option --" .. name)) end
		if not kind then
			parsed[#parsed + 1] = list[i]
		elseif kind == "flag" then
			parsed[name] = true
		else
			i = i + 1
			if not list[i] then error(xcore.error("usage", ("--%s needs a value"):format(name))) end
			parsed[name] = kind == "number" and number(name, list[i]) or list[i]
		end
		i = i + 1
	end
	if #parsed > most then error(xcore.error("usage", ("unexpected argument '%s'"):format(parsed[#parsed]))) end
	return parsed
end

-- An address, or a usage error.
function args.address(text, what)
	local addr = math.tointeger(tonumber(text or ""))
	if not addr then error(xcore.error("usage", what .. " needs an address")) end
	return addr
end

return args
