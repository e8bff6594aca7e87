-- world.lua STATE ACCOUNT OBJECTS INSIDE THOUSANDS TELL: the program whose cores build-luajit makes.
-- Plants objects whose number, size and owner it knows, leaves coroutines in every way of being suspended, goes down through
-- every kind of frame, writes all that to ACCOUNT (JSON lines) and dies in STATE. What was written is true at the death: after it
-- nothing is allocated. A state that is not in `states` is one that a debugger stops in (cases.py).

local ffi = require("ffi")
local state, account_path, objects_path, inside_path, thousands, tell_path = unpack(arg)
local inside = assert(package.loadlib(inside_path, "luaopen_inside"))()
local tell = assert(loadfile(tell_path))(inside)
local write, frames_of = tell.write, tell.frames_of
local count = tonumber(thousands) * 1000

ffi.cdef [[
typedef struct { int id; double weight; char tag[16]; } record_t;
typedef struct node_s { struct node_s *next; int32_t value; } node_t;
typedef enum { RED, GREEN, BLUE } colour_t;
int atoi(const char *text);
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
]]

-- ── what it holds ──────────────────────────────────────────────────────────────────────────────

world = { coroutines = {}, planted = {} }

-- Says of a planted kind how many there are and, where one knows, what each is.
local function plant(name, fields, objects)
	world[name] = objects
	fields.name, fields.where = name, "_G.world." .. name
	fields.addr = inside.address(objects)
	world.planted[#world.planted + 1] = fields
end

local function plant_tables()
	local arrays, hashes, points = {}, {}, {}
	for i, size in ipairs { 0, 1, 2, 3, 15, 16, 17, 100, 1000 } do
		local array = {}
		for k = 1, size do array[k] = k * i end
		arrays[i] = array
	end
	for i, size in ipairs { 0, 1, 2, 3, 4, 5, 8, 100, 1000 } do
		local hash = {}
		for k = 1, size do hash["key" .. k] = k * i end
		hashes[i] = hash
	end
	for i = 1, count do points[i] = { x = i, y = -i, name = "point " .. i } end
	plant("arrays", { type = "tab", count = #arrays, lengths = { 0, 1, 2, 3, 15, 16, 17, 100, 1000 } }, arrays)
	plant("hashes", { type = "tab", count = #hashes, lengths = { 0, 1, 2, 3, 4, 5, 8, 100, 1000 } }, hashes)
	plant("points", { type = "tab", count = count, keys = { "x", "y", "name" } }, points)
end

local function plant_odd_tables()
	local mixed = { 1, 2, 3, [-1] = "minus", [1.5] = "float", [true] = "yes", ["two words"] = { deep = { deeper = "bottom" } } }
	mixed[mixed] = "itself"
	plant("mixed", { type = "tab", array = 3, pairs = 8 }, mixed)
	local weak = {}
	for _, mode in ipairs { "k", "v", "kv" } do
		weak[mode] = setmetatable({ [world.points[1]] = world.points[2] }, { __mode = mode })
	end
	plant("weak", { type = "tab", count = 3 }, weak)
	local dead = {}
	for i = 1, 64 do dead["gone " .. i] = { i } end
	for i = 1, 60 do dead["gone " .. i] = nil end
	plant("dead", { type = "tab", nodes = 64, live = 4 }, dead)
	local ring = { name = "ring 1" }
	ring.next = { name = "ring 2", next = { name = "ring 3", next = ring } }
	plant("ring", { type = "tab", count = 3 }, ring)
end

-- Big things, each held by one path alone.
local function plant_big()
	local hidden = {}
	for i = 1, 32768 do hidden[i] = i end
	plant("holder", { type = "func", holds = "tab", through = "upvalue hidden", least_bytes = 32768 * 8 },
		function() return hidden end)
	plant("path", { type = "tab", holds = "str", through = "a.b[3]", bytes_of_string = 500000 },
		{ a = { b = { 1, 2, ("long"):rep(125000) } } })
	plant("bytes", { type = "str" }, { "", "a", "zero\0inside", "\u{e9}t\u{e9}", ("k"):rep(100000) })
end

local function counter(start)
	local value, calls = start, 0
	return function(step)
		value, calls = value + step, calls + 1
		return value
	end, function() return calls end
end

local function plant_functions()
	local counters, readers = {}, {}
	for i = 1, count / 10 do counters[i], readers[i] = counter(i) end
	plant("counters", { type = "func", count = #counters, upvalues = { "value", "calls" } }, counters)
	plant("readers", { type = "func", count = #readers, upvalues = { "calls" }, shared_with = "counters" }, readers)
	plant("c_counters", { type = "func", count = 2, c_upvalues = 2 }, { inside.counter(1, "one"), inside.counter(2, "two") })
	local stripped = assert(loadstring(string.dump(assert(loadstring("local a = ... return function() return a end", "=stripped")), true)))
	plant("chunks", { type = "func", count = 3, chunknames = { "=named", "return 'the text itself'", "stripped" } },
		{ assert(loadstring("local x = 1\nreturn x", "=named")), assert(loadstring("return 'the text itself'")), stripped })
end

local function plant_cdata()
	local records, integers, arrays, nodes, finalized = {}, {}, {}, {}, {}
	for i = 1, count / 10 do
		records[i] = ffi.new("record_t", i, i / 2)
		ffi.copy(records[i].tag, "tag " .. i)
		integers[i] = 1000000000000LL + i
	end
	for i = 1, 50 do arrays[i] = ffi.new("int32_t[?]", i, i) end
	for i = 1, 20 do nodes[i] = ffi.new("node_t", i > 1 and nodes[i - 1] or nil, i) end
	local function finish_record() end
	for i = 1, 30 do finalized[i] = ffi.gc(ffi.new("record_t", -i), finish_record) end
	plant("records", { type = "cdata", ctype = "record_t", count = #records, bytes_each = ffi.sizeof("record_t") }, records)
	plant("integers", { type = "cdata", ctype = "int64_t", count = #integers }, integers)
	plant("vlas", { type = "cdata", ctype = "int32_t [?]", count = #arrays, payload = 4 * 50 * 51 / 2 }, arrays)
	plant("nodes", { type = "cdata", ctype = "struct node_s", count = #nodes }, nodes)
	plant("finalized", { type = "cdata", ctype = "record_t", count = #finalized, finalizer = inside.address(finish_record) }, finalized)
	plant("others", { type = "cdata", count = 4 }, {
		ffi.new("colour_t", "BLUE"), ffi.new("complex", 1, 2), ffi.cast("void *", 0x1234), ffi.typeof("record_t"),
	})
end

local function plant_userdata()
	local resources = {}
	for i = 1, 40 do resources[i] = inside.resource(i * 10) end
	plant("resources", { type = "udata", count = #resources, payload = 10 * 40 * 41 / 2 }, resources)
	plant("proxy", { type = "udata", count = 1 }, newproxy(true))
	plant("light", { type = "lightud", count = 1 }, { inside.light() })
	plant("file", { type = "udata", count = 1 }, io.stdout)
end

local function plant_modules()
	for _, name in ipairs { "first.module", "second.module" } do
		local module = { _NAME = name, data = {} }
		for i = 1, 100 do module.data[i] = name .. " " .. i end
		package.loaded[name] = module
	end
	world.planted[#world.planted + 1] = { name = "modules", where = "package.loaded", names = { "first.module", "second.module" } }
end

-- Another file of the program, loaded.
local function beside(name) return assert(loadfile(tell_path:match("^.*/") .. name)) end

local start_coroutines = beside("coroutines.lua")(inside)

-- ── the end ────────────────────────────────────────────────────────────────────────────────────

local function tell_world()
	write("engine", {
		version = jit.version, arch = jit.arch, state = state, gc64 = ffi.abi("gc64"), dualnum = ffi.abi("dualnum") or false,
		compiler = jit.status(), count = count,
	})
	for _, planted in ipairs(world.planted) do write("planted", planted) end
	for _, one in ipairs(world.coroutines) do
		write("coroutine", {
			name = one.name, addr = inside.address(one.co), status = coroutine.status(one.co), traceback = debug.traceback(one.co),
			frames = frames_of(one.co, 0),
		})
	end
	local loaded = {}
	for name, module in pairs(package.loaded) do loaded[#loaded + 1] = { name = name, addr = inside.address(module) } end
	write("loaded", { modules = loaded })
end

-- Writes it all. dying lists the frames, innermost first, that will be above or instead of the caller's present line: {function, line}.
-- The last of them is the caller itself. Reading the array of victim is deadly from then on: of that the interpreter's own code dies,
-- where an FFI access dies in a C function.
local function last_words(dying, victim)
	tell_world()
	local here, main, dies = coroutine.running(), inside.main(), {}
	if here then
		write("coroutine", {
			name = "main", addr = inside.address(main), status = "normal", traceback = debug.traceback(main), frames = frames_of(main, 0),
		})
	end
	-- Looked at from another coroutine, so that the levels do not depend on who asks: 0 is its resume, 1 this function.
	local frames = coroutine.wrap(function() return frames_of(here or main, 2) end)()
	write("coroutine", {
		name = "running", addr = inside.address(here or main), status = "running", traceback = debug.traceback("", 2), frames = frames,
	})
	for i, one in ipairs(dying) do
		dies[i] = { func = inside.address(one[1]), line = one[2], defined = debug.getinfo(one[1], "S").linedefined }
	end
	write("dies", { frames = dies })
	inside.tell(victim)
end
jit.off(last_words)

-- The line of the function that calls, n lines further.
local function here(n)
	local info = debug.getinfo(2, "fl")
	return { info.func, info.currentline + n }
end

-- A line of a function, n lines below the one where it begins.
local function inner(f, n)
	return { f, debug.getinfo(f, "S").linedefined + n }
end

local states = {}
local null = ffi.cast("int32_t *", 0)

function states.interp()
	local victim, message = { 1, 2, 3 }, "the last one"
	last_words({ here(1) }, victim)
	local got = victim[1]
	return message, got
end
jit.off(states.interp)

states["ffi-store"] = function()
	local message = "the last one"
	last_words { here(1) }
	null[0] = 42
	return message
end
jit.off(states["ffi-store"])

function states.c()
	last_words { here(1) }
	inside.crash()
	return 1
end
jit.off(states.c)

states["ffi-call"] = function()
	local atoi = ffi.C.atoi
	local wild, number = ffi.cast("const char *", 0x10), atoi("12")
	last_words { here(1) }
	number = number + atoi(wild)
	return number
end
jit.off(states["ffi-call"])

function states.callback()
	local values, victim = ffi.new("int32_t[5]", 5, 4, 3, 2, 1), { 1, 2, 3 }
	local function compare(a, b)
		local left, right = ffi.cast("const int32_t *", a)[0], ffi.cast("const int32_t *", b)[0]
		last_words({ here(1) }, victim)
		local got = victim[1]
		return left - right + got
	end
	jit.off(compare)
	local made = ffi.cast("int (*)(const void *, const void *)", compare)
	ffi.C.qsort(values, 5, 4, made)
	return made
end
jit.off(states.callback)

function states.handler()
	local victim = { 1, 2, 3 }
	local function fails() local t = nil return t.field end
	local function handle(message)
		last_words({ here(1) }, victim)
		local got = victim[1]
		return message, got
	end
	jit.off(handle)
	local ok = xpcall(fails, handle)
	return ok
end

function states.hook()
	local victim = { 1, 2, 3 }
	local function hooked(event)
		last_words({ here(1) }, victim)
		local got = victim[1]
		return event, got
	end
	jit.off(hooked)
	local function spin()
		local n = 0
		for i = 1, 1000 do n = n + i end
		return n
	end
	jit.off(spin)
	debug.sethook(hooked, "", 100)
	local n = spin()
	return n
end

function states.finalizer()
	local function finish(resource)
		last_words { here(1) }
		inside.crash()
		return resource
	end
	jit.off(finish)
	getmetatable(world.resources[1]).__gc = finish
	world.resources[7] = nil
	collectgarbage()
	return 1
end

function states.cdatafinalizer()
	local function finish(record)
		last_words { here(1) }
		null[0] = record.id
		return 1
	end
	jit.off(finish)
	ffi.gc(world.finalized[3], finish)
	world.finalized[3] = nil
	collectgarbage()
	return 1
end

local tools = { inside = inside, here = here, inner = inner, last_words = last_words }
beside("traces.lua")(states, tools)
beside("inlined.lua")(states, tools)

-- Work for a debugger to stop in: tables and strings come and go, loops are compiled, traces are left, coroutines run.
local function churn(rounds)
	local kept = {}
	for r = 1, rounds do
		local t = {}
		for i = 1, 300 do
			t["churn " .. (r * 300 + i)] = { i }
			if i % 37 == 0 then kept[#kept + 1] = t end
		end
		local f = loadstring(("local n, s = ... for i = 1, 200 do if i %% %d == 0 then s = s .. 'x' else n = n + i end end return n, s"):format(r + 2))
		f(r, "")
		if r % 50 == 0 then kept = {} end
	end
	return #kept
end

local function stopped()
	last_words { here(0) }
	inside.arm()
	local kept = churn(400)
	return kept
end

local function die()
	local die_in = states[state] or stopped
	local result = die_in()
	return result
end

-- ── the way down ───────────────────────────────────────────────────────────────────────────────
-- main chunk, xpcall, pcall of C, vararg function, gsub's callback, sort's comparator, metamethod; then a coroutine, in which
-- there are a tail call, a protected call, an iterator; then the end.

local function in_iterator(list, i)
	i = i + 1
	if i == 2 then
		local result = die()
		return result
	end
	return list[i] and i
end

local function in_coroutine(first, ...)
	local extra = select("#", ...)
	local ok, why = pcall(function(argument)
		local list = { "a", "b", "c" }
		for i in in_iterator, list, 0 do
			argument = argument + i
		end
		return argument + extra
	end, first)
	if not ok then io.stderr:write("world.lua: ", tostring(why), "\n") os.exit(3) end
	return ok
end

local function tail_to_coroutine(...)
	return in_coroutine(...)
end

local Compared = {}
Compared.__lt = function(a, b)
	if a.rank + b.rank == 3 then
		local co = coroutine.create(tail_to_coroutine)
		local ok, result = coroutine.resume(co, 5, "six", 7)
		if not ok then io.stderr:write("world.lua: ", tostring(result), "\n") os.exit(3) end
		return result
	end
	return a.rank < b.rank
end

local function in_gsub(dots)
	local list = {}
	for i = 1, 5 do list[i] = setmetatable({ rank = 6 - i, dots = dots }, Compared) end
	table.sort(list, function(a, b) local less = a < b return less end)
	return "replaced"
end

local function with_varargs(...)
	local text, n = ("x...y"):gsub("%.%.%.", in_gsub)
	return text, n, ...
end

local function go_down()
	local ok, text = inside.pcall(with_varargs, 1, "two", nil, 4)
	return ok, text
end

inside.open(account_path, objects_path ~= "-" and objects_path or nil)
plant_tables()
plant_odd_tables()
plant_big()
plant_functions()
plant_cdata()
plant_userdata()
plant_modules()
start_coroutines()
collectgarbage()
print(xpcall(go_down, debug.traceback))
