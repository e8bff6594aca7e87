-- an error in the handler of an error, in a loop
while true do
	xpcall(error, function(e) error(e) end, 'x')
end
