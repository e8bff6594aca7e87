-- options: the arguments of commands.
local xcore = require "xcore"
local commands = require "luajit.commands"

local options = {}

local function usage(format, ...)
	error(xcore.error("usage", format:format(...)))
end

function options.number(name, text)
	local found = math.tointeger(tonumber(text or ""))
	if not found or found < 0 then usage("--%s needs a number", name) end
	return found
end

-- The VM (--vm ADDR), and a table: options described by `known` ({ limit = "number", find = "text", live = "flag" }),
-- and other arguments from 1, at most `most`.
function options.parse(t, args, known, most)
	local vm, list = commands.parse(t, args)
	local parsed, i = {}, 1
	while i <= #list do
		local name = list[i]:match "^%-%-(.+)$"
		local kind = name and known[name]
		if name and not kind then usage("unknown option --%s", name) end
		if not kind then
			parsed[#parsed + 1] = list[i]
		elseif kind == "flag" then
			parsed[name] = true
		else
			i = i + 1
			if not list[i] then usage("--%s needs a value", name) end
			parsed[name] = kind == "number" and options.number(name, list[i]) or list[i]
		end
		i = i + 1
	end
	if #parsed > most then usage("unexpected argument '%s'", parsed[#parsed]) end
	return vm, parsed
end

return options
