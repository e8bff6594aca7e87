-- a loop that is as good as endless
for i = 1, math.maxinteger do end
