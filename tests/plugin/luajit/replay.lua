-- replay.lua PROGRAM jit|twin TRUTH: runs a program of luajit/replay to its death.
--
-- PROGRAM receives lists made by the functions below, and returns a function with a hot loop over them. The function is
-- called on valid lists until it is compiled. Then one element of one list is damaged, and the loop dies from it. The
-- twin does the same without the compiler, and writes its position before each instruction of the last call, as
-- DEFINED:LINE of each Lua function, innermost first: the last line of TRUTH is also the place where the other one
-- dies.
local ffi = require "ffi"
local program_path, mode, truth_path = unpack(arg)
local COUNT = 320 -- elements of a list
local KEPT = {}   -- what only C's pointers lead to

collectgarbage "stop" -- it would die from the damaged value
ffi.cdef "typedef struct cell { struct cell *next; int32_t value; } cell_t;"

local function wild(ctype) return ffi.cast(ctype, 0x1000) end

-- The word of a table that points at its array or hash part (lj_obj.h, GCtab).
local function spoil_table(one, array)
	local addr = assert(tonumber(tostring(one):match "0x(%x+)", 16))
	if ffi.abi "gc64" then
		ffi.cast("uint64_t *", addr)[array and 2 or 5] = 0x1000
	else
		ffi.cast("uint32_t *", addr)[array and 2 or 5] = 0x1000
	end
end

local lists = {}

-- list[i][0]
function lists.numbers()
	local list, values = ffi.new("int32_t *[?]", COUNT), ffi.new("int32_t[?]", COUNT)
	KEPT[#KEPT + 1] = values
	for i = 0, COUNT - 1 do
		values[i], list[i] = i % 7 + 1, values + i
	end
	return list, function(i) list[i] = wild "int32_t *" end
end

-- list[i].value, list[i].next.value
local function cells()
	local list, values = ffi.new("cell_t *[?]", COUNT), ffi.new("cell_t[?]", COUNT)
	KEPT[#KEPT + 1] = values
	for i = 0, COUNT - 1 do
		values[i].value, values[i].next, list[i] = i % 5 + 1, values + i, values + i
	end
	return list
end

function lists.cells()
	local list = cells()
	return list, function(i) list[i] = wild "cell_t *" end
end

function lists.chains()
	local list = cells()
	return list, function(i) list[i].next = wild "cell_t *" end
end

-- list[i][1]
function lists.arrays()
	local list = {}
	for i = 0, COUNT - 1 do list[i] = { i % 6 + 1, 2, 3 } end
	return list, function(i) spoil_table(list[i], true) end
end

-- list[i].value
function lists.fields()
	local list = {}
	for i = 0, COUNT - 1 do list[i] = { value = i % 4 + 1 } end
	return list, function(i) spoil_table(list[i], false) end
end

local function position()
	local parts, level = {}, 3
	local info = debug.getinfo(level, "Sl")
	while info do
		if info.what ~= "C" then parts[#parts + 1] = ("%d:%d"):format(info.linedefined, info.currentline) end
		level = level + 1
		info = debug.getinfo(level, "Sl")
	end
	return table.concat(parts, " ") .. "\n"
end

local function watch()
	local truth = assert(io.open(truth_path, "w"))
	truth:setvbuf "no"
	debug.sethook(function() truth:write(position()) end, "", 1)
end

if mode == "twin" then jit.off() end
local hot = assert(loadfile(program_path))()
local given, spoil = {}, {}
for i, kind in ipairs(hot.lists) do given[i], spoil[i] = lists[kind]() end
if hot.options then jit.opt.start(unpack(hot.options)) end
local loop, sum = hot.make(unpack(given)), 0
for _ = 1, hot.warm do sum = sum + loop(0, hot.limit) end
spoil[hot.victim](hot.death)
if mode == "twin" then watch() end
sum = sum + loop(hot.from, hot.limit)
debug.sethook()
os.exit(sum > 0 and 0 or 1) -- without closing the state, which would free the damaged value
