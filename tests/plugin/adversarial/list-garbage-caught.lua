-- invalid pointers, with the error caught
local node = xcore.target:thread():frames()[3]:var('dangling')
local ok, e = pcall(function() return node.next end)
print(ok, e.kind, e.addr == 0x123456789000, e.message)
for i = 1, 20000 do pcall(function() return node.next end) end
print('done')
