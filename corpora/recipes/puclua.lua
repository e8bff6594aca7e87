-- puclua.lua COUNT: the work of the puclua recipes, for Lua 5.1 to 5.4. Objects of every type, COUNT records, weak tables, coroutines that are
-- suspended and one that runs; it dies in a C function below pcall, a metamethod, a sort and a gsub, in a coroutine.
local count = tonumber((...))

world = { records = {}, closures = {}, waiting = {}, mixed = { 1, 2.5, "three", true, [2 ^ 40] = "far", ["a b"] = { deep = { deeper = "here" } } } }
world.big = ("big "):rep(50000)
world.sparse = { [1] = 1, [2] = 2, [1000] = 1000 }

local function counter(start)
	local value = start
	return function(step)
		value = value + step
		return value
	end
end

for i = 1, count do
	world.records[i] = { id = i, name = "record " .. i, i % 7 }
	if i % 5 == 0 then world.closures[#world.closures + 1] = counter(i) end
end

-- Held by nothing that is not weak, but for the first.
world.weak = setmetatable({}, { __mode = "v" })
world.kept = { "kept by world.kept" }
world.weak[1] = world.kept

local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({ x = x, y = y }, Point) end
world.points = { Point.new(1, 2), Point.new(3, 4) }

local function waiter(name, limit)
	local sum = 0
	for i = 1, limit do
		sum = sum + i
		local got = coroutine.yield(sum)
		if got == "stop" then return name end
	end
end

for i = 1, 5 do
	local co = coroutine.create(waiter)
	for _ = 1, i do coroutine.resume(co, "waiter " .. i, 100) end
	world.waiting["waiter " .. i] = co
end

local finished = coroutine.create(function() return 1 end)
coroutine.resume(finished)
world.finished = finished
world.fresh = coroutine.create(waiter)

local Odd = {}
Odd.__lt = function(a, b)
	local reason = "comparing"
	local ok = pcall(function(depth)
		local text = ("x"):gsub("x", function(letter)
			local answer = die(world.waiting)
			return answer
		end)
		return text, depth, reason
	end, 7)
	return ok and a.n < b.n
end

local function sorter(n, ...)
	local list = {}
	for i = 1, n do list[i] = setmetatable({ n = -i }, Odd) end
	local before = select("#", ...)
	table.sort(list)
	return list, before
end

local running = coroutine.create(function(first)
	local a, b = sorter(3, "one", "two", first)
	return a, b
end)
world.waiting.main = nil
local function outermost()
	local ok, err = coroutine.resume(running, "extra")
	print(ok, err)
end
outermost()
