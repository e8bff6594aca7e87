-- a handler that continues instead
xpcall(function() while true do end end, function()
	print('still here')
	while true do end
end)
print('still here')
