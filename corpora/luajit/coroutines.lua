-- coroutines.lua: coroutines in every way of being suspended. Given inside.so's functions, it returns the function that adds them to
-- `world`.
local inside = ...

local function keep(name, body, ...)
	local co = coroutine.create(body)
	world.coroutines[#world.coroutines + 1] = { name = name, co = co, result = { coroutine.resume(co, ...) } }
end

local function plain(number, text)
	local flag, nothing, list = true, nil, { number }
	do
		local ended = "out of scope"
		local _ = ended
	end
	local after = "takes the slot of the one that ended"
	for i = 1, 3 do
		local inner = i * 10
		if i == 2 then
			coroutine.yield(inner, flag, nothing, list) -- here it stays
		end
	end
	return after, text
end

local function third(depth, ...)
	local last = select("#", ...)
	coroutine.yield(depth, last)
	return last
end

local function second(depth, ...)
	local before = depth * 2
	local result = third(depth + 1, "vararg one", 2, before, ...)
	return result, before
end

local function nested(depth)
	local result = second(depth + 1, false, nil)
	return result
end

local function deep(depth)
	if depth == 0 then
		coroutine.yield("deep")
		return 0
	end
	local below = deep(depth - 1)
	return below + depth
end

local function tail(depth)
	local unused = depth
	if depth == 0 then
		coroutine.yield(unused)
		return "tail"
	end
	return tail(depth - 1)
end

-- Each yields in a metamethod of its name.
local Yielding = {}
for _, event in ipairs { "__index", "__newindex", "__call", "__lt", "__le", "__eq", "__concat", "__add", "__unm", "__len" } do
	Yielding[event] = function(a, b)
		local where = event
		coroutine.yield(where, a, b)
		return 1
	end
end
local function yielding() return setmetatable({}, Yielding) end

local metamethods = {
	index = function() local o = yielding() local got = o.missing return got end,
	newindex = function() local o = yielding() o.missing = 1 return o end,
	call = function() local o = yielding() local got = o(1) return got end,
	lt = function() local o, p = yielding(), yielding() local got = o < p return got end,
	le = function() local o, p = yielding(), yielding() local got = o <= p return got end,
	eq = function() local o, p = yielding(), yielding() local got = o == p return got end,
	concat = function() local o = yielding() local got = "a" .. o .. "b" return got end,
	add = function() local o = yielding() local got = o + 1 return got end,
	unm = function() local o = yielding() local got = -o return got end,
}

local function start_coroutines()
	keep("plain", plain, 17, "argument")
	keep("nested", nested, 1)
	keep("deep", deep, 150)
	keep("tail", tail, 5)
	for name, body in pairs(metamethods) do keep("metamethod " .. name, body) end
	keep("pcall", function()
		local ok, what = pcall(function()
			local within = "a protected call"
			coroutine.yield(within)
		end)
		return ok, what
	end)
	keep("xpcall", function()
		local ok, what = xpcall(function() coroutine.yield("xpcall") return 1 end, debug.traceback)
		return ok, what
	end)
	keep("iterator", function()
		local function each(list, i)
			i = i + 1
			coroutine.yield(i)
			if list[i] then return i, list[i] end
		end
		for i, item in each, { "one", "two" }, 0 do local seen = { i, item } world.seen = seen end
	end)
	keep("c yield", function() local got = inside.yield(1, 2) return got end)
	keep("bare yield", coroutine.yield, "no Lua function at all")
	keep("finished", function() return "done" end)
	keep("failed", function()
		local reason = "planted"
		local function fail(why) local t = nil return t.field .. why end
		return fail(reason)
	end)
	world.coroutines[#world.coroutines + 1] = { name = "fresh", co = coroutine.create(plain), result = {} }
	world.wrapped = coroutine.wrap(function() local kept = "by a wrap" coroutine.yield(kept) return kept end)
	world.wrapped()
end

return start_coroutines
