-- maybe.lua: what some versions and builds of nginx have and others do not, and what cannot be read.
local xcore = require "xcore"
local damage = require "lib.damage"

local maybe = { try = damage.try, part = damage.part, message = damage.message }

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

return maybe
