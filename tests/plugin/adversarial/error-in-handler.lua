-- an error in an error handler
print(xpcall(error, function(e) error(e) end, 'x'))
