-- the empty string, repeated very often
print(#string.rep('', math.maxinteger))
