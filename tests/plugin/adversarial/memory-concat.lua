-- a huge table.concat
local t = {}
for i = 1, 1000 do t[i] = ('x'):rep(1000) end
local s = table.concat(t)
for i = 1, 1000 do t[i] = s end
print(#table.concat(t))
