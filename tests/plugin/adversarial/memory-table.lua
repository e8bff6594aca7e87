-- a table that grows
-- options: --max-instructions 50
local t = {}
while true do t[#t + 1] = #t end
