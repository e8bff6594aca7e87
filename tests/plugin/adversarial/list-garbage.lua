-- an invalid pointer
local node = xcore.target:thread():frames()[3]:var('dangling')
while node do node = node.next end
