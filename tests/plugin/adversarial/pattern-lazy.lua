-- an exponential lazy pattern
print((('a'):rep(60):match(('a-'):rep(60) .. 'b')))
