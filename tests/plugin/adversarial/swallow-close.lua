-- a variable with a __close that continues instead
do
	local guard <close> = setmetatable({}, { __close = function()
		print('still here')
		while true do end
	end })
	while true do end
end
