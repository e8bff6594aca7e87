-- shares.lua: functions of known shares of CPU time, called in the ways that Lua has. Says "ready", works
-- for as many seconds of CPU time as its argument says, then says the share of each: "NAME SHARE".
local clock = os.clock
local n = 20000

local function numbers(count)
	local x = 0.5
	for i = 1, count do x = (x * 3.1 + i) % 7.7 end
	return x
end

local function alpha() return numbers(6 * n) + 1 end

local function beta()
	local t = {}
	for i = 1, 4 * n do t[i % 100 + 1] = i * 2 end
	return #t
end

local function bottom()
	local s = 0
	for i = 1, 4 * n do s = s + i % 3 end
	return s
end

local function deep(depth)
	if depth == 0 then return bottom() end
	local found = deep(depth - 1)
	return found + 1
end

local function text()
	local s = 0
	for i = 1, n do s = s + #tostring(i) end
	return s
end

local function inside()
	coroutine.yield(1)
	local s = text()
	return s + 1
end

local function resumed()
	local run = coroutine.wrap(inside)
	run()
	local s = run()
	return s
end

local function by_sort()
	local list = {}
	for i = 1, n / 10 do list[i] = i * 7919 % 1009 end
	table.sort(list, function(a, b) return a < b end)
	return #list
end

local spent, least, order = {}, {}, {}
-- A host may take the processor away, which a guest's clock counts: what exceeds twice the least by 1 ms is not booked.
local function add(name, seconds)
	if not spent[name] then
		spent[name], least[name] = 0, seconds
		order[#order + 1] = name
	end
	least[name] = math.min(least[name], seconds)
	spent[name] = spent[name] + math.min(seconds, 2 * least[name] + 1e-3)
end

local seconds = tonumber((arg and arg[1]) or ...)
io.write "ready\n"
io.flush()
local began = clock()
while clock() - began < seconds do
	local at = clock()
	alpha()
	local now = clock()
	add("alpha", now - at)
	at = now
	beta()
	now = clock()
	add("beta", now - at)
	at = now
	deep(20)
	now = clock()
	add("deep", now - at)
	at = now
	resumed()
	now = clock()
	add("resumed", now - at)
	at = now
	by_sort()
	now = clock()
	add("by_sort", now - at)
end

local all = 0
for _, name in ipairs(order) do all = all + spent[name] end
for _, name in ipairs(order) do print(name, ("%.4f"):format(spent[name] / all)) end
