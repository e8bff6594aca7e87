-- a replacement much longer than its match
print(#('x'):rep(1000000):gsub('.', ('y'):rep(1000)))
