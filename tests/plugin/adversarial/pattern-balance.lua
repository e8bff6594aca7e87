-- %b that starts everywhere and never ends
print((('('):rep(1000000):find('%b()')))
