-- a recursive __tostring
local t
t = setmetatable({}, { __tostring = function() return tostring(t) end })
print(t)
