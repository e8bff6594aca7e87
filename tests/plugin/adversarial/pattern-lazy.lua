-- a lazy pattern that explodes
print((('a'):rep(60):match(('a-'):rep(60) .. 'b')))
