-- args.lua: the arguments of the plugin's commands.
local fault = require "redis.fault"

local args = {}

local NUMBERS = { db = true, limit = true, samples = true }

local function number(name, text)
	local value = math.tointeger(tonumber(text))
	if not value or value < 0 then fault.usage("--%s needs a number, not '%s'", name, text) end
	return value
end

-- Options among `known` ("db", "match", …: each takes a value), as a table. Other arguments are at 1, 2, …, at most
-- `most`.
function args.parse(list, known, most)
	local allowed, parsed, i = {}, {}, 1
	for _, name in ipairs(known) do allowed[name] = true end
	while i <= #list do
		local name, value = list[i]:match "^%-%-([%w-]+)=?(.*)$"
		if not name then
			parsed[#parsed + 1] = list[i]
		elseif not allowed[name] then
			fault.usage("unknown option '%s'", list[i])
		else
			if value == "" then i, value = i + 1, list[i + 1] end
			if not value then fault.usage("--%s needs a value", name) end
			parsed[name] = NUMBERS[name] and number(name, value) or value
		end
		i = i + 1
	end
	if #parsed > (most or 0) then fault.usage("unexpected argument '%s'", parsed[#parsed]) end
	return parsed
end

-- A class of a glob, "[a-c^]", after its bracket: as a class of a Lua pattern, and its end.
local function class(glob, at)
	local set = ""
	if glob:sub(at, at) == "^" then
		at, set = at + 1, "^"
	end
	while at <= #glob and glob:sub(at, at) ~= "]" do
		local from, to = glob:match("^([^\\])%-([^%]])", at)
		if from then
			set, at = ("%s%s-%s"):format(set, from, to), at + 3
		else
			if glob:sub(at, at) == "\\" then at = at + 1 end
			set, at = set .. glob:sub(at, at):gsub("%W", "%%%0"), at + 1
		end
	end
	return "[" .. set .. "]", at
end

-- A Redis glob (* ? [a-c] [^a] \x) as a Lua pattern.
function args.pattern(glob)
	local pattern, at = "^", 1
	while at <= #glob do
		local c, piece = glob:sub(at, at), nil
		if c == "*" then
			piece = pattern:sub(-2) == ".*" and "" or ".*"
		elseif c == "?" then
			piece = "."
		elseif c == "[" and glob:find("]", at + 2, true) then
			piece, at = class(glob, at + 1)
		else
			if c == "\\" and at < #glob then
				at = at + 1
				c = glob:sub(at, at)
			end
			piece = c:find "%w" and c or "%" .. c
		end
		pattern, at = pattern .. piece, at + 1
	end
	return pattern .. "$"
end

return args
