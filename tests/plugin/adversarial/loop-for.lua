-- a practically endless loop
for i = 1, math.maxinteger do end
