-- a metamethod that asks itself
local t = setmetatable({}, { __index = function(t, k) return t[k] end })
print(t.x)
