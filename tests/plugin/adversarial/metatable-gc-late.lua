-- a finalizer that runs later
local mt = {}
local t = setmetatable({}, mt)
mt.__gc = function() while true do end end
t = nil
collectgarbage()
print(pcall(setmetatable, {}, mt))
