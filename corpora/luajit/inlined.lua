-- inlined.lua: states that die in a trace that inlines functions, each where another shortcut would name the wrong one. The loops are
-- compiled on good pointers; one of them is spoiled then. Given `states` of world.lua and what it makes them with, adds to them.
local ffi = require("ffi")
local states, tools = ...
local pointers_to, warm, here, inner, last_words = tools.pointers_to, tools.warm, tools.here, tools.inner, tools.last_words
local ROUNDS, LAST = 999, tools.LAST

-- Dies in a loop that was compiled; dying lists the frames above, innermost first.
local function die_in(dying, loop, ...)
	dying[#dying + 1] = here(2)
	last_words(dying)
	local sum = loop(...)
	return sum
end

local function fetch(from, at)
	local pointer = from[at]
	local value = pointer[0]
	return value
end

-- In the caller, after what was inlined has returned; no exit lies between.
states["trace-after"] = function()
	local good, bad = pointers_to(2), pointers_to(3)
	local function sum_all(from, other, limit)
		local sum = 0
		for i = 0, limit do
			local got = fetch(from, i)
			local more = other[i][0]
			sum = sum + got + more
		end
		return sum
	end
	warm(sum_all, good, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(sum_all, 4) }, sum_all, good, bad, ROUNDS)
end

-- In the caller, before it calls.
states["trace-before"] = function()
	local good, bad = pointers_to(2), pointers_to(3)
	local function sum_all(from, other, limit)
		local sum = 0
		for i = 0, limit do
			local more = other[i][0]
			local got = fetch(from, i)
			sum = sum + got + more
		end
		return sum
	end
	warm(sum_all, good, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(sum_all, 3) }, sum_all, good, bad, ROUNDS)
end

-- In the second of two calls of the same function.
states["trace-second"] = function()
	local good, bad = pointers_to(2), pointers_to(3)
	local function sum_all(from, other, limit)
		local sum = 0
		for i = 0, limit do
			local got = fetch(from, i)
			local more = fetch(other, i)
			sum = sum + got + more
		end
		return sum
	end
	warm(sum_all, good, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(fetch, 2), inner(sum_all, 4) }, sum_all, good, bad, ROUNDS)
end

-- In the first of two calls with the same arguments: the second one's loads are the first one's.
states["trace-twice"] = function()
	local bad = pointers_to(3)
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			local got = fetch(from, i)
			local more = fetch(from, i)
			sum = sum + got + more
		end
		return sum
	end
	warm(sum_all, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(fetch, 2), inner(sum_all, 3) }, sum_all, bad, ROUNDS)
end

-- In a function that was called in place of the one that the loop called.
states["trace-tail"] = function()
	local bad = pointers_to(3)
	local function pass(from, at)
		return fetch(from, at)
	end
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			local got = pass(from, i)
			sum = sum + got
		end
		return sum
	end
	warm(sum_all, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(fetch, 2), inner(sum_all, 3) }, sum_all, bad, ROUNDS)
end

-- Where a load of the inlined function was taken out of the loop: there are fewer of them than the bytecode has.
states["trace-hoisted"] = function()
	local bad, factors = pointers_to(3), ffi.new("int32_t[2]", 5, 7)
	local function scaled(from, at, by)
		local factor = by[1]
		local pointer = from[at]
		return pointer[0] * factor
	end
	local function sum_all(from, by, limit)
		local sum = 0
		for i = 0, limit do
			local got = scaled(from, i, by)
			sum = sum + got
		end
		return sum
	end
	warm(sum_all, bad, factors, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(scaled, 3), inner(sum_all, 3) }, sum_all, bad, factors, ROUNDS)
end

-- In a function with many tables, behind exits of its own.
states["trace-tables"] = function()
	local bad, list = pointers_to(3), {}
	for i = 0, ROUNDS do list[i] = { part = { at = i, from = bad } } end
	local function reach(all, at)
		local part = all[at].part
		local from = part.from
		return from[part.at][0]
	end
	local function sum_all(all, limit)
		local sum = 0
		for i = 0, limit do
			local got = reach(all, i)
			sum = sum + got
		end
		return sum
	end
	warm(sum_all, list, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(reach, 3), inner(sum_all, 3) }, sum_all, list, ROUNDS)
end

-- Behind a branch of the inlined function: its exit leads to where the trace does not go.
states["trace-branch"] = function()
	local bad = pointers_to(3)
	local function choose(from, at)
		if at > 100000 then
			return 0
		end
		local pointer = from[at]
		return pointer[0]
	end
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			local got = choose(from, i)
			sum = sum + got
		end
		return sum
	end
	warm(sum_all, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(choose, 5), inner(sum_all, 3) }, sum_all, bad, ROUNDS)
end

-- In a store, through an upvalue, of what another inlined function loaded.
states["trace-store"] = function()
	local good, bad = pointers_to(2), pointers_to(3)
	local function put(at, value)
		local pointer = bad[at]
		pointer[0] = value
	end
	local function copy_all(from, limit)
		for i = 0, limit do
			local value = fetch(from, i)
			put(i, value + 1)
		end
		return limit
	end
	warm(copy_all, good, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(put, 2), inner(copy_all, 3) }, copy_all, good, ROUNDS)
end

-- Two functions that do the same through the same pointers, one behind the other: the account says the first.
states["trace-alike"] = function()
	local bad = pointers_to(3)
	local function again(from, at)
		local pointer = from[at]
		return pointer[0]
	end
	local function sum_all(from, limit)
		local sum = 0
		for i = 0, limit do
			local got = again(from, i)
			local more = fetch(from, i)
			sum = sum + got + more + from[i][0]
		end
		return sum
	end
	warm(sum_all, bad, ROUNDS)
	bad[LAST] = nil
	return die_in({ inner(again, 2), inner(sum_all, 3) }, sum_all, bad, ROUNDS)
end
