-- adlist.lua: Redis linked lists: head, tail, len; nodes of prev, next, value.
local xcore = require "xcore"
local fault = require "redis.fault"

local adlist = {}

local MOST = 1 << 20

local function follow(head)
	local columns, count, why = xcore.follow(head, "next", { "value" }, { max = MOST, partial = true })
	return { at = columns.value, count = count, why = why }
end

-- The values that the nodes of a list point to, typed ("client *"), as an array; and the reason if the list ends
-- early.
local function values_of(list, type)
	local head, lost = fault.try(function() return list and list.head end)
	if not head then return {}, lost end
	local nodes, values = follow(head), {}
	for i = 1, nodes.count do
		if nodes.at[i] then values[#values + 1] = xcore.cast(nodes.at[i], type) end
	end
	return values, nodes.why
end

-- All items of a list, converted by `describe`, without unreadable ones. Also returns {bad, why}.
function adlist.collect(list, type, describe)
	local values, why = values_of(list, type)
	local all, trouble = {}, { bad = why and 1 or 0, why = why }
	for _, value in ipairs(values) do
		local found, reason = fault.try(describe, value)
		if found then
			all[#all + 1] = found
		else
			trouble.bad, trouble.why = trouble.bad + 1, trouble.why or reason
		end
	end
	return all, trouble
end

function adlist.length(list)
	return list and list.len or 0
end

return adlist
