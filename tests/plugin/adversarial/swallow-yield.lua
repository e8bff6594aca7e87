-- a yield across pcall, then caught
local work = coroutine.wrap(function()
	pcall(function()
		coroutine.yield()
		while true do end
	end)
	print('still here')
end)
work()
pcall(work)
print('still here')
