-- code.lua DUMP BYTECODE: makes LuaJIT compile loops of many kinds, records the output of jit.dump and jit.bc, and
-- dies.
local dump_path, bytecode_path = ...
local ffi = require "ffi"
ffi.cdef "void abort(void); typedef struct { int x; double y; } point_t;"
require("jit.dump").on("tisrm", dump_path)
jit.opt.start("hotloop=10", "hotexit=3")

local work = {}

function work.numbers(n)
	local sum, product = 0, 1.5
	for i = 1, n do
		sum = sum + i % 7 - i / 3
		if i % 5 == 0 then product = product * 1.0001 elseif i % 3 == 0 then sum = -sum end
	end
	return sum, product, math.floor(sum), math.sqrt(product)
end

function work.tables(n)
	local list, map, text = {}, { count = 0 }, ""
	for i = 1, n do
		list[i] = { i, name = "item " .. i }
		map.count = map.count + #list[i].name
		map["key" .. i % 4] = i
		if i % 40 == 0 then text = text .. list[i].name end
	end
	for _, item in ipairs(list) do map.count = map.count + item[1] end
	for key, value in pairs(map) do map[key] = value end
	return #text, map.count
end

local point = ffi.new "point_t"
function work.cdata(n)
	local counts, total = ffi.new "int32_t[16]", 0LL
	for i = 1, n do
		counts[i % 16] = counts[i % 16] + i
		point.x, point.y = i, point.y + 0.5
		total = total + counts[3]
	end
	return total
end

local function add(a, b) return a + b end
function work.calls(n)
	local sum, calls = 0, 0
	local function twice(x) calls = calls + 1 return add(x, x) end
	for i = 1, n do
		sum = add(sum, twice(i))
		sum = math.min(math.max(sum, 1), 1e9)
	end
	return sum, calls
end

function work.texts(n)
	local out = {}
	for i = 1, n do
		local s = ("%d:%s"):format(i, "x"):sub(1, 3) .. "\n\t\"quoted\""
		out[#out + 1] = s:byte(1)
		if s == "5:x" then out.found = true end
	end
	while #out > 3 do table.remove(out) end
	return #out
end

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
function work.recursion() return fib(18) end

local mt = { __index = function(t, k) return #k end, __add = function(a, b) return 1 end }
function work.metamethods(n)
	local object, sum = setmetatable({}, mt), 0
	for i = 1, n do sum = sum + object.missing + (object + object) end
	return sum
end

function work.goto_and_varargs(...)
	local n, i = select("#", ...), 0
	::again::
	i = i + 1
	local t = { ..., nil, true, false, 3.25, -70000, 1e300, "end" }
	if i < 100 and t then goto again end
	return n, ...
end

function work.refused(n)
	local list = {}
	for i = 1, n do list[i] = function() return i end end
	for i = 1, n do
		for k = 1, 2 do list[i] = load("return " .. k) end
	end
	return #list
end

function work.hopeless()
	local last
	for i = 1, 300000 do
		last = function() return i end
	end
	return last
end

local names = {}
for name in pairs(work) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
	if name == "goto_and_varargs" then work[name](1, 2, 3) else work[name](300) end
end
require("jit.dump").off()
jit.off()

local out = assert(io.open(bytecode_path, "w"))
for _, name in ipairs(names) do
	local info = debug.getinfo(work[name], "S")
	out:write("== ", info.linedefined, "\nlines")
	for pc = 0, require("jit.util").funcinfo(work[name]).bytecodes - 1 do out:write(" ", require("jit.util").funcinfo(work[name], pc).currentline) end
	out:write("\n")
	require("jit.bc").dump(work[name], out)
end
out:close()
ffi.C.abort()
