-- The walk in Lua, five times: COUNT, SUM and CPU seconds of each loop.
local xcore = require "xcore"

local function walk()
	local start = xcore.clock()
	local node = xcore.target:var "list".head
	local count, total = 0, 0
	while node do
		total = total + node.id + node.refs + node.weight + node.flag
		count = count + 1
		node = node.next
	end
	return count, total, xcore.clock() - start
end

local count, total
local loops = {}
for i = 1, 5 do
	collectgarbage()
	count, total, loops[i] = walk()
end
print(count, ("%.1f"):format(total), table.concat(loops, " "))
