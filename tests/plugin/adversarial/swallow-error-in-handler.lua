-- an error in an error handler, in a loop
while true do
	xpcall(error, function(e) error(e) end, 'x')
end
