-- fuzz_bind: interprets the bytes of fuzz_input as API calls. Each operation takes its arguments from them, and its
-- results are arguments for the next ones.
local input <const>, MAX_POOL <const>, MAX_OPERATIONS <const> = fuzz_input, 48, 80
local at = 0

local function byte()
	at = at + 1
	return input:byte(at) or 0
end

local function pick(list) return list[1 + byte() % #list] end

local function names_of(object)
	local names = {}
	for name, value in pairs(object) do
		if type(value) == "function" and type(name) == "string" then names[#names + 1] = name end
	end
	table.sort(names)
	return names
end

local functions <const> = names_of(xcore)
local methods <const> = {
	["xcore.Target"] = {
		"var", "ref", "type", "value", "eval", "has_var", "has_type", "has_symbol", "symbol", "symbolize", "read", "readable",
		"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "ptr", "cstring", "modules", "module", "maps", "map",
		"find", "threads", "thread",
	},
	["xcore.Thread"] = { "registers", "frames" },
	["xcore.Frame"] = { "args", "locals", "var", "eval", "register" },
	["xcore.Type"] = { "strip", "pointer", "array", "members", "enumerators" },
	["xcore.Report"] = { "section" },
	["xcore.Section"] = {
		"headline", "text", "count", "integer", "bytes", "address", "bool", "seconds", "ratio", "value", "unknown", "lines",
		"note", "warning", "problem", "table", "tree", "histogram",
	},
	["xcore.Table"] = { "row" },
	["xcore.Tree"] = { "add" },
	["xcore.Histogram"] = { "add", "buckets", "summary" },
	["xcore.Top"] = { "add", "least", "items" },
	["xcore.Declarations"] = { "type", "constant" },
}
local words <const> = {
	"", "next", "name", "three", "kind", "number", "shorts", "shorts[1]", "next.next.name", "next[0].three", "a.b[2].c", "[", "..",
	"struct fuzz_node", "struct fuzz_node *", "struct fuzz_node [3]", "int", "unsigned char", "char", "double", "void *", "void",
	"int (*)(int)", "fuzz_first", "fuzz_grid", "fuzz_function", "main", "fuzz_bind.c::fuzz_second", "&fuzz_first", "fuzz_grid[1][2]",
	"$rip", "x", "little", "big", "log2", "linear", "exact", "bytes", "text", "\0\255\27[2J", "%s%n", ("x"):rep(70000), "rsp",
	"struct made { int a : 3; struct made *next; char tail[]; };", "#define N 1e9\nenum e { A = N };", "typedef int t[1 << 30];",
}
local numbers <const> = {
	0, 1, 2, 3, 4, 7, 8, 64, 255, 4096, 65536, 1 << 31, 1 << 32, -1, -2, -8, math.maxinteger, math.mininteger, 0.5, -0.0, 1e308,
	math.huge, -math.huge, 0 / 0, fuzz_memory, fuzz_memory + 1, fuzz_memory + 40, fuzz_memory + 4088, 0x414141414141,
}
local others <const> = {
	function() return 1 end, function(...) return ... end, error, print, next, coroutine.create(print), io, true, false, xcore, _G,
	function() error(fuzz_input) end, function() return xcore.target:var("fuzz_first").name end, string, setmetatable({}, {
		__index = function(_, key) return key end, __len = function() return 1 << 40 end, __tostring = function() return {} end }),
}
local keys <const> = {
	"max", "stop", "partial", "container", "letter", "field", "depth", "elements", "length", "raw", "scale", "width", "unit",
	"bytes", "pointer_to", "signature", "within", "writable", "align", "tries", "words", "label", "secret", "quiet", "title",
	"verbose", "next", "kind", 1, 2, 3,
}

local node <const> = "struct fuzz_node"
local pool = { xcore.target, xcore.report, xcore }
for _, make in ipairs {
	function() return xcore.target:value(node, fuzz_memory) end,
	function() return xcore.cast(fuzz_memory + 3 * xcore.sizeof(node), node .. " *") end,
	function() return xcore.target:type(node) end,
	function() return xcore.target:var "fuzz_grid" end,
	function() return xcore.target:thread() end,
	function() return xcore.target:thread():frames()[1] end,
	function() return xcore.histogram() end,
	function() return xcore.top(3) end,
	function() return xcore.report:section("fuzz") end,
	function() return xcore.report:section("more"):table("rows", { { "a", "text" }, { "b", "count" } }) end,
	function() return xcore.ref(xcore.target:value(node, fuzz_memory), "three") end,
	function() return xcore.cdef "struct made { int a : 3; struct made *next; };" end,
} do
	local ok, made = pcall(make)
	pool[#pool + 1] = ok and made or nil
end

local depth = 0
local value

local function composed()
	local made = {}
	if depth > 3 then return made end
	depth = depth + 1
	for i = 1, byte() % 4 do made[byte() < 128 and i or pick(keys)] = value() end
	depth = depth - 1
	return made
end

function value()
	local kind = byte()
	if kind < 128 then return pool[1 + kind % #pool] end
	if kind < 170 then return pick(words) end
	if kind < 215 then return pick(numbers) end
	if kind < 225 then return nil end
	if kind < 245 then return composed() end
	return pick(others)
end

-- Often, but not always, a value of the target where one is expected.
local function wanted()
	for _ = 1, 4 do
		local got = value()
		if type(got) == "userdata" then return got end
	end
	return value()
end

local next_place = 0

local function keep(ok, ...)
	for i = 1, ok and math.min(select("#", ...), 4) or 0 do
		local got = select(i, ...)
		if got ~= nil then
			next_place = next_place % MAX_POOL + 1
			pool[#pool < MAX_POOL and #pool + 1 or next_place] = got
		end
	end
end

local function values() return table.unpack({ value(), value(), value(), value(), value() }, 1, byte() % 6) end

local function iterate(...)
	local rounds = 0
	for a, b in ... do
		rounds = rounds + 1
		keep(true, a, b)
		if rounds == 20 then break end
	end
end

local operations
operations = {
	function() return xcore[pick(functions)](values()) end,
	function() return xcore[pick(functions)](wanted(), values()) end,
	function() return xcore[pick(functions)](wanted(), values()) end,
	function()
		local object = wanted()
		return object[pick(methods[getmetatable(object)])](object, values())
	end,
	function()
		local object = wanted()
		return object[pick(methods[getmetatable(object)])](object, pick(words), values())
	end,
	function() -- a method of one class for an object of another
		local object = wanted()
		return object[pick(methods[getmetatable(object)])](values())
	end,
	function() return value()[value()] end,
	function() return wanted()[pick(words)] end,
	function() wanted()[value()] = value() end,
	function() return wanted() + value() end,
	function() return wanted() - value() end,
	function() return value() == value(), value() < value() end,
	function() return #wanted() end,
	function() return value() .. tostring(value()) end,
	function() return value()(values()) end,
	function() iterate(value()(values())) end,
	function() iterate(xcore.each(wanted(), value())) end,
	function() iterate(pairs(value())) end,
	function() print(values()) end,
	function() return string.format("%s %d %q", value(), value(), value()) end,
	function() return coroutine.wrap(function() coroutine.yield(pick(operations)()) end)() end,
}

for _ = 1, MAX_OPERATIONS do
	if at >= #input then break end
	keep(pcall(pick(operations)))
end
