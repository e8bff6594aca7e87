-- a pattern nested too deeply
print(('a'):rep(300):find(('a?'):rep(300)))
