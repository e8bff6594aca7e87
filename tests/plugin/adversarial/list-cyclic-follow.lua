-- a cyclic list, walked by xcore.follow
local node = xcore.target:thread():frames()[3]:var('first')
local columns, count = xcore.follow(node, 'next', { 'value' })
print(count, table.concat(columns.value, ' '))
