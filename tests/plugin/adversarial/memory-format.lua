-- a huge string.format
local s = ('x'):rep(1000000)
local t = {}
for i = 1, 200 do t[i] = s end
print(#string.format(('%s'):rep(200), table.unpack(t)))
