-- maybe.lua: members that exist only in some versions and builds of a program.
local xcore = require "xcore"

local maybe = {}

-- The member at a path of names with dots; nil if there is no such member or a pointer on the path is NULL.
function maybe.get(v, path)
	for name in path:gmatch "[^.]+" do
		if v == nil or not xcore.has(v, name) then return nil end
		v = v[name]
	end
	return v
end

-- The address of a member, 0 for NULL; nil if there is no such member.
function maybe.addr(v, path)
	local last = v
	for name in path:gmatch "[^.]+" do
		if last == nil or not xcore.has(last, name) then return nil end
		last = last[name]
	end
	return last and xcore.addr(last) or 0
end

-- The first member of several that exists.
function maybe.first(v, ...)
	for _, path in ipairs { ... } do
		local found = maybe.get(v, path)
		if found ~= nil then return found end
	end
end

return maybe
