-- luajit.lua THOUSANDS ACCOUNT: the work of the luajit recipe.
-- Fills the heap with every type of object (about three for each of THOUSANDS*1000), lets the JIT
-- compile some loops, leaves coroutines suspended, writes what it holds to ACCOUNT and dies deep
-- inside a coroutine: Lua frames, metamethods, C functions calling back, at last an FFI call.

local ffi = require("ffi")
local thousands, account = tonumber(arg[1]), arg[2]
local count = thousands * 1000

ffi.cdef [[
size_t strlen(const char *s);
typedef struct { int id; double weight; char tag[16]; } record_t;
]]

local world = { strings = {}, tables = {}, functions = {}, records = {}, coroutines = {} }

local function counter(start)
	local value = start
	return function(step)
		value = value + step
		return value
	end
end

local function fill()
	for i = 1, count do
		world.strings[i] = "string number " .. i
		world.tables[i] = { id = i, name = world.strings[i], i % 7 }
		if i % 3 == 0 then
			world.functions[#world.functions + 1] = counter(i)
		end
		if i % 6 == 0 then
			local record = ffi.new("record_t", i, i / 2)
			ffi.copy(record.tag, "r" .. i)
			world.records[#world.records + 1] = record
		end
	end
end

local function worker(limit)
	local sum = 0
	for i = 1, limit do
		sum = sum + world.functions[i % #world.functions + 1](1)
		if i % 10 == 0 then
			coroutine.yield(sum)
		end
	end
	return sum
end

local function start_coroutines()
	for i = 1, math.floor(count / 500) do
		local co = coroutine.create(worker)
		assert(coroutine.resume(co, 100 + i))
		world.coroutines[i] = co
	end
end

-- A loop hot enough for root and side traces.
local function compute(rounds)
	local total = 0
	for r = 1, rounds do
		for i = 1, #world.tables, 10 do
			local t = world.tables[i]
			total = total + (t[1] > 3 and t.id or -t.id) + #t.name
		end
	end
	return total
end

local function tell(total)
	local out = assert(io.open(account, "w"))
	out:write("strings ", #world.strings, "\ntables ", #world.tables, "\nfunctions ", #world.functions)
	out:write("\nrecords ", #world.records, "\ncoroutines ", #world.coroutines, "\ntotal ", total)
	out:write("\ngc_kilobytes ", math.floor(collectgarbage("count")), "\n")
	out:close()
end

local die

local Node = {}
Node.__index = function(node, key)
	return rawget(node, "parent") and node.parent[key] or die(key)
end
Node.__lt = function(a, b)
	if a.rank == 3 and b.rank ~= 3 then
		return a.missing < b.rank
	end
	return a.rank < b.rank
end

function die(key)
	local wild = ffi.cast("const char *", 0x10)
	local length = tonumber(ffi.C.strlen(wild)) -- the end
	return #key + length
end

local function descend(depth, text)
	if depth > 0 then
		local below = descend(depth - 1, text .. ".")
		return below + depth
	end
	local replaced = text:gsub("%.%.%.", function(dots)
		local nodes = {}
		for i = 1, 5 do
			nodes[i] = setmetatable({ rank = 6 - i, dots = dots }, Node)
		end
		table.sort(nodes)
		return "3"
	end)
	return #replaced
end

fill()
start_coroutines()
tell(compute(20))
jit.off(die) -- so that the call goes through the interpreter's FFI path
local deep = coroutine.wrap(function() return descend(120, "x") end)
print(pcall(deep))
