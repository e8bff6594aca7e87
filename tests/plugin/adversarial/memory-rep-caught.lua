-- a huge string.rep, caught
print(pcall(string.rep, 'x', 1 << 40))
print('still here')
