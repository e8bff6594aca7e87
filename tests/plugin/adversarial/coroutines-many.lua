-- as many coroutines as there is room for
local kept = {}
while true do
	kept[#kept + 1] = coroutine.create(function() coroutine.yield() end)
end
