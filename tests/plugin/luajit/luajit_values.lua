-- luajit_values.lua TRUTH: creates values of every sort, writes LuaJIT's own description of each to TRUTH (KIND, key,
-- text; separated by tabs; one per line) and dies.
local ffi, util = require "ffi", require "jit.util"
local out = assert(io.open(arg[1], "w"))

local function tell(...)
	out:write(table.concat({ ... }, "\t"):gsub("\n", "\\n"), "\n")
end

ffi.cdef [[
typedef struct { int id; double weight; char tag[16]; } record_t;
struct node { struct node *next; int32_t value; };
struct packed { unsigned a : 3; int b : 5; unsigned c : 24; uint8_t d; struct { int x, y; }; union { float f; int32_t i; }; };
union either { int i; float f; };
enum colour { RED, GREEN = 5, BLUE };
typedef int (*compare_t)(const void *, const void *);
typedef enum { ONE = 1, TWO } counted_t;
]]

-- ---- C types as spelled by the FFI ----

types = {}
for _, text in ipairs {
	"bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long", "int64_t",
	"uint64_t", "float", "double", "complex float", "complex double", "void *", "const void *", "char *", "const char *", "const char *const",
	"char *const *", "volatile int *", "const volatile int *", "int **", "int *const *const *", "int[4]", "int[2][3]", "int[?]", "int (*)[4]",
	"int *[4]", "const int[4]", "void (*)(int)", "int (*(*)(int))[3]", "char *(*)(void)", "compare_t", "compare_t *", "struct node",
	"struct node *", "const struct node *", "struct node[2]", "record_t", "record_t *", "const record_t *[3]", "union either", "enum colour",
	"enum colour *", "counted_t", "struct packed", "int &", "struct node &", "float __attribute__((vector_size(16)))", "int (*[2])[3]",
	"int (**)(int)", "size_t", "uintptr_t", "wchar_t", "va_list",
} do
	local ok, ct = pcall(ffi.typeof, text)
	if ok then
		types[#types + 1] = ct
		tell("type", #types, tostring(ct))
	end
end

-- ---- values as formatted by tostring ----

values = {}
local function value(x, kind)
	values[#values + 1] = x
	tell(kind or type(x), #values, tostring(x))
end

for _, number in ipairs { 0, 1, -1, 42, 1.5, -0.001, 1e15, 1e14, 123456789012345, 1e300, -1e-300, 1 / 3, 2 ^ 31, -2 ^ 31, 2 ^ 53, 0.5, 123456789012345.5, 1234567890123.25, 5, 0.1 + 0.2, 2 ^ -1074, 1 / 0, -1 / 0 } do
	value(number)
end
value(true)
value(false)
for _, text in ipairs { "", "plain", "two\nlines", "zero\0inside", 'quote "', "back\\slash" } do
	values[#values + 1] = text
	tell("string", #values, (text:gsub(".", function(c) return ("%02x"):format(c:byte()) end)))
end
local keep = { ffi.new("int[4]", 1, 2, 3, 4), ffi.new("struct node", nil, 7) }
for _, one in ipairs {
	1LL, -1LL, 123456789012345678LL, -9223372036854775807LL - 1, 1ULL, 18446744073709551615ULL, ffi.new("int", -3), ffi.new("uint8_t", 200),
	ffi.new("double", 1.5), ffi.new("bool", true), ffi.new("complex", 1, -2), ffi.new("complex float", 0.5, 2), ffi.new("enum colour", "BLUE"),
	ffi.new("enum colour", 77), ffi.cast("void *", 0), ffi.cast("void *", 0x1234), ffi.cast("char *", 0x12345678), ffi.cast("int *", 0x7fffdeadbeef),
	keep[1], keep[2], ffi.cast("struct node *", keep[2]), ffi.new("record_t", 1, 2.5, "tag"), ffi.new("int[?]", 3), ffi.cast("counted_t", 2),
	ffi.typeof("record_t"), ffi.new("struct packed"), ffi.new("int64_t[2]"), ffi.new("uint64_t", 7), ffi.new("long", -7),
} do
	value(one)
end

-- ---- functions as described by debug.getinfo and jit.util ----

functions = {}
local function fn(f)
	functions[#functions + 1] = f
	local info, more = debug.getinfo(f, "Su"), util.funcinfo(f)
	tell("function", #functions, info.source, info.linedefined, info.lastlinedefined, more.params, more.stackslots, more.bytecodes, more.gcconsts,
		more.nconsts, more.upvalues, tostring(more.isvararg or false))
	local i = 1
	while true do
		local name, up = debug.getupvalue(f, i)
		if not name then break end
		tell("upvalue", #functions, name, type(up) == "number" and tostring(up) or type(up))
		i = i + 1
	end
	for k = 0, more.nconsts - 1 do tell("number constant", #functions, k, tostring(util.funck(f, k))) end
	for k = 1, more.gcconsts do
		local constant = util.funck(f, -k)
		if type(constant) == "string" then tell("string constant", #functions, k - 1, constant) end
	end
end

local first, second = 11, "two"
fn(function(a, b) return a + b * 1.25 + 3e10, "constant one", "constant two" end)
fn(function(...)
	local t = { ..., first }
	first = first + 1
	return function() return t, second end
end)
fn(assert(loadstring("local a, b, c = ...\nreturn a + 99.5 * b", "=chunk")))

-- ---- tables: the result of pairs ----

tables = { {}, { 1, 2, 3 }, { x = 1, y = 2 }, { 1, 2, nil, 4, n = 4 }, setmetatable({ own = 1 }, { __index = { inherited = 2 }, __name = "fancy" }) }
local big = {}
for i = 1, 300 do big[i] = i * i big["key " .. i] = i end
for i = 1, 300, 3 do big[i] = nil big["key " .. i] = nil end
tables[#tables + 1] = big
for i, one in ipairs(tables) do
	for key, item in pairs(one) do tell("pair", i, type(key), key, tostring(item)) end
end

-- ---- modules, userdata, the compiler ----

local function plant_module()
	local kept = {}
	for i = 1, 50 do kept[i] = { ("only of this module %d"):format(i) } end
	package.loaded["planted.module"] = { kept = kept }
end
plant_module()
proxies = {}
local metatable = getmetatable(newproxy(true))
debug.getregistry()["planted.type"] = metatable
for i = 1, 25 do
	proxies[i] = newproxy(true)
	debug.setmetatable(proxies[i], metatable)
end
tell("udata", "planted.type", 25)
for name in pairs(package.loaded) do tell("module", name) end

finalized = {}
local function release() end
for i = 1, 17 do finalized[i] = ffi.gc(ffi.new("record_t", i), release) end
tell("finalizer", "record_t", 17, debug.getinfo(release, "S").linedefined)

require("jit.opt").start("-fuse", "hotloop=77", "maxside=33")
tell("jit", select(1, jit.status()) and "on" or "off", table.concat({ select(2, jit.status()) }, " "))
tell("parameter", "hotloop", 77)
tell("parameter", "maxside", 33)
debug.sethook(function() end, "cr")
tell("hooks", "call, return")
jit.off()
collectgarbage()
out:close()
ffi.cast("int *", 0)[0] = 1
