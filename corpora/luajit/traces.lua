-- traces.lua: states that die in a trace, or in what a trace calls. Given `states` of world.lua and what it makes them with, adds to
-- both.
local ffi = require("ffi")
local states, tools = ...
local inside, here, inner, last_words = tools.inside, tools.here, tools.inner, tools.last_words

-- Pointers, all good but the last: whoever goes through them dies there. The loops were compiled before, on good ones.
local LAST = 900
local function pointers_to(value)
	local target, pointers = ffi.new("int32_t[1]", value), ffi.new("int32_t *[1000]")
	for i = 0, 999 do pointers[i] = target end
	return pointers, target
end

local function warm(f, ...)
	for _ = 1, 5 do f(...) end
end

function states.trace()
	local pointers, target = pointers_to(1)
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			sum = sum + from[i][0]
		end
		return sum
	end
	warm(sum_all, pointers, 999)
	pointers[LAST] = nil
	last_words { inner(sum_all, 3), here(1) }
	local sum = sum_all(pointers, 999)
	return sum, target
end

states["trace-inlined"] = function()
	local pointers, target = pointers_to(2)
	local function fetch(from, at)
		local pointer = from[at]
		local value = pointer[0]
		return value
	end
	local function twice(from, at)
		local once = fetch(from, at)
		return once * 2
	end
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			local got = twice(from, i)
			sum = sum + got
		end
		return sum
	end
	warm(sum_all, pointers, 999)
	pointers[LAST] = nil
	last_words { inner(fetch, 2), inner(twice, 1), inner(sum_all, 3), here(1) }
	local sum = sum_all(pointers, 999)
	return sum, target
end

states["trace-side"] = function()
	local pointers, target = pointers_to(3)
	local function sum_all(from, limit)
		local count, sum = 0, 0
		for i = 0, limit do
			if i < 500 then
				count = count + 1 -- the root trace
			else
				sum = sum + from[i][0]
			end
		end
		return count, sum
	end
	warm(sum_all, pointers, 999)
	warm(sum_all, pointers, 999)
	pointers[LAST] = nil
	last_words { inner(sum_all, 6), here(1) }
	local count = sum_all(pointers, 999)
	return count, target
end

states["trace-call"] = function()
	local texts, atoi = ffi.new("const char *[1000]"), ffi.C.atoi
	local digits = "12"
	for i = 0, 999 do texts[i] = digits end
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			sum = sum + atoi(from[i])
		end
		return sum
	end
	warm(sum_all, texts, 999)
	texts[LAST] = nil
	last_words { inner(sum_all, 3), here(1) }
	local sum = sum_all(texts, 999)
	return sum, digits
end

states["trace-stitch"] = function()
	local crash = inside.crash
	local function sum_down(from, to)
		local sum = 0
		for i = from, to, -1 do
			sum = sum + crash(i)
		end
		return sum
	end
	warm(sum_down, 1000, 100)
	last_words { inner(sum_down, 3), here(1) }
	local sum = sum_down(1000, 0)
	return sum
end

tools.pointers_to, tools.warm, tools.LAST = pointers_to, warm, LAST
