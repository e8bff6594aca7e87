-- The same by the bulk primitive, five times: CPU seconds until the members of all nodes are in Lua tables. The sum is
-- computed afterwards.
local xcore = require "xcore"

local function walk()
	local start = xcore.clock()
	local columns, count = xcore.follow(xcore.target:var "list".head, "next", { "id", "refs", "weight", "flag" })
	local seconds = xcore.clock() - start
	local total = 0
	for i = 1, count do total = total + columns.id[i] + columns.refs[i] + columns.weight[i] + columns.flag[i] end
	return count, total, seconds
end

local count, total
local loops = {}
for i = 1, 5 do
	collectgarbage()
	count, total, loops[i] = walk()
end
print(count, ("%.1f"):format(total), table.concat(loops, " "))
