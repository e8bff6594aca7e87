-- a replacement much longer than what it replaces
print(#('x'):rep(1000000):gsub('.', ('y'):rep(1000)))
