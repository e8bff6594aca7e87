-- a dead coroutine whose closing goes on
pcall(coroutine.wrap(function()
	local guard <close> = setmetatable({}, { __close = function() while true do end end })
	while true do end
end))
print('still here')
