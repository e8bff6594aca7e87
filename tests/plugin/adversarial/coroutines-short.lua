-- coroutines too short for their own instruction count
while true do
	coroutine.wrap(function() for i = 1, 400 do end end)()
end
