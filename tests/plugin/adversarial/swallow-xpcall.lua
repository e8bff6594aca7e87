-- a handler that goes on instead
xpcall(function() while true do end end, function()
	print('still here')
	while true do end
end)
print('still here')
