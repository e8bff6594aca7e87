-- A recursion that is deeper than stacks are kept, and works at its end. deep.lua
local function work()
	local sum = 0
	while true do
		for i = 1, 1e6 do sum = sum + i end
	end
end

local function deep(n)
	if n == 0 then work() end
	local x = deep(n - 1)
	return x
end

print "begins"
deep(3000)
