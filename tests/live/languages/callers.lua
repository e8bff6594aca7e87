-- Two functions that call a third: all of the time is in that one, half of it for each, and none in the main chunk.
-- callers.lua SECONDS
local seconds = tonumber((...))
local started = os.clock()

local function work(up)
	local sum = 0
	for i = 1, 20000 do
		if up then sum = sum + i else sum = sum - i end
	end
	return sum
end

local function first() local sum = work(true) return sum end
local function second() local sum = work(false) return sum end

local function both()
	while os.clock() - started < seconds do
		first()
		second()
	end
end

print "begins"
both()
