-- %b that starts everywhere and ends nowhere
print((('('):rep(1000000):find('%b()')))
