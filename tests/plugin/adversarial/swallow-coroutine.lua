-- a coroutine takes the error for its own
while true do
	coroutine.resume(coroutine.create(function() while true do end end))
end
