-- endlessly many values of the target
-- options: --max-instructions 50
local kept = {}
local node = xcore.target:thread():frames()[3]:var('first')
while true do kept[#kept + 1] = xcore.ref(node) end
