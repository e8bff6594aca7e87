-- The walk in Lua: COUNT, SUM and CPU seconds of the loop.
local xcore = require "xcore"
local start = xcore.clock()
local node = xcore.target:var "list".head
local count, total = 0, 0
while node do
	total = total + node.id + node.refs + node.weight + node.flag
	count = count + 1
	node = node.next
end
print(count, ("%.1f"):format(total), xcore.clock() - start)
