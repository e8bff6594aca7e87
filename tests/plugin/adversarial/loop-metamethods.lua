-- a loop in a metamethod
local t = setmetatable({}, { __index = function(t, k) while true do k = k end end })
print(t.x)
