-- maybe.lua: members that some versions and builds of a program have and others do not.
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

-- The first of several members that there is.
function maybe.first(v, ...)
	for _, path in ipairs { ... } do
		local found = maybe.get(v, path)
		if found ~= nil then return found end
	end
end

return maybe
