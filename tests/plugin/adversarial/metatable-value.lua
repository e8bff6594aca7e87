-- the metatables of xcore's own values
local v = xcore.target:thread():frames()[3]:var('first')
for _, value in ipairs { v, xcore.target, xcore.typeof(v), xcore.target:thread() } do
	local mt = getmetatable(value)
	print(type(mt) ~= 'table' or mt.__gc == nil and mt.__index == nil)
end
print(pcall(setmetatable, v, {}))
