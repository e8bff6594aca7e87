-- an inconsistent comparator
-- options: --max-instructions 50
local t = {}
for i = 1, 200000 do t[i] = i end
table.sort(t, rawequal)
