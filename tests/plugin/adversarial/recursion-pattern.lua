-- a pattern nested too deep
print(('a'):rep(300):find(('a?'):rep(300)))
