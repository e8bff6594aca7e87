-- adlist.lua: Redis's linked lists: head, tail, len; nodes of prev, next, value.
local xcore = require "xcore"

local adlist = {}

local MOST = 1 << 20

-- What the nodes of a list point to, as values of a type ("client *"): an array; and why it ends early, if it does.
function adlist.values(t, list, type)
	if not list or not list.head then return {} end
	local columns, count, why = xcore.follow(list.head, "next", { "value" }, { max = MOST, partial = true })
	local values = {}
	for i = 1, count do
		local at = columns.value[i]
		if at and at ~= 0 then values[#values + 1] = xcore.cast(at, type) end
	end
	return values, why
end

function adlist.length(list)
	return list and list.len or 0
end

return adlist
