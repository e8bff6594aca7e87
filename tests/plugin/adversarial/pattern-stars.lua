-- an exponential pattern
print((('a'):rep(50):find(('a*'):rep(50) .. 'b')))
