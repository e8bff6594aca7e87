-- an error that looks like the limit's
print(pcall(error, 'not enough memory', 0))
error('not enough memory', 0)
