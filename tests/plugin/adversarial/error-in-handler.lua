-- an error in the handler of an error
print(xpcall(error, function(e) error(e) end, 'x'))
