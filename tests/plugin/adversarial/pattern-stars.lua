-- a pattern that explodes
print((('a'):rep(50):find(('a*'):rep(50) .. 'b')))
