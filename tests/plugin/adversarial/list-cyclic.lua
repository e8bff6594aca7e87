-- a cyclic list, walked without a check
local node = xcore.target:thread():frames()[3]:var('first')
while node do node = node.next end
