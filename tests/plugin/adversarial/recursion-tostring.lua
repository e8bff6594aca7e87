-- a text that asks for itself
local t
t = setmetatable({}, { __tostring = function() return tostring(t) end })
print(t)
