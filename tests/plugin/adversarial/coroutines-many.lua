-- as many coroutines as memory permits
local kept = {}
while true do
	kept[#kept + 1] = coroutine.create(function() coroutine.yield() end)
end
