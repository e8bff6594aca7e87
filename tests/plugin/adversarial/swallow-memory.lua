-- the memory limit's error, caught
local kept = {}
while true do
	pcall(function() while true do kept[#kept + 1] = ('x'):rep(1000000) .. #kept end end)
end
