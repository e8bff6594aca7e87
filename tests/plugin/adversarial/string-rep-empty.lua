-- nothing, very often
print(#string.rep('', math.maxinteger))
