-- a dead coroutine with a __close that continues
pcall(coroutine.wrap(function()
	local guard <close> = setmetatable({}, { __close = function() while true do end end })
	while true do end
end))
print('still here')
