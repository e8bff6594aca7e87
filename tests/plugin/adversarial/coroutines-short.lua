-- coroutines too short for a count of their own
while true do
	coroutine.wrap(function() for i = 1, 400 do end end)()
end
