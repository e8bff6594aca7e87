-- maybe.lua: what some versions and builds of nginx have and others do not, and what cannot be read.
local xcore = require "xcore"

local maybe = {}

-- The member at a path of names with dots: nil when there is no such member, or a pointer on the way is NULL.
function maybe.get(v, path)
	for name in path:gmatch "[^.]+" do
		if v == nil or not xcore.has(v, name) then return nil end
		v = v[name]
	end
	return v
end

-- The address of a member, 0 for NULL; nil when there is no such member.
function maybe.addr(v, path)
	local last = v
	for name in path:gmatch "[^.]+" do
		if last == nil or not xcore.has(last, name) then return nil end
		last = last[name]
	end
	return last and xcore.addr(last) or 0
end

-- Does an error come from what was read? What the user asks for, and limits, end the command.
local function of_memory(err)
	return type(err) ~= "table" or err.kind ~= "usage" and err.kind ~= "limit"
end

function maybe.message(err)
	return type(err) == "table" and err.message or tostring(err)
end

-- fn(...), or nil and the reason when memory cannot be read or makes no sense.
function maybe.try(fn, ...)
	local done, result, second = pcall(fn, ...)
	if done then return result, second end
	if not of_memory(result) then error(result, 0) end
	return nil, maybe.message(result)
end

return maybe
