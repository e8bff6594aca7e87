-- graph: who keeps what alive: every object of the VM is a node of xcore.graph, every reference that the collector
-- follows is an edge (lj_gc.c, gc_traverse_*), and its starting points are roots. References that it does not follow
-- (weak ones, keys of empty slots) are not edges.
local xcore = require "xcore"
local layout = require "luajit.layout"
local object = require "luajit.object"
local still = require "luajit.still"
local tvalue = require "luajit.tvalue"
local weak = require "luajit.weak"

local graph = {}

local FIXED = 0x60    -- of `marked`: never freed
local BUFFER = 3      -- udtype of a string buffer
local MOST = 1 << 28  -- maximum slots of a table; more are damage

-- Names of roots, in the order in which the shortest paths are searched.
graph.ROOTS = { globals = "_G", registry = "registry", main = "main thread", running = "running coroutine" }

-- GCROOT_* other than names of metamethods and metatables of basic types.
graph.SLOTS = { IO_INPUT = "io.input", IO_OUTPUT = "io.output", FFI_FIN = "finalizers of cdata" }

-- A scan of values: the words that are references.
local function values(vm, what)
	local scan = tvalue.scan(vm)
	what.width, what.mask, what.tag = scan.width, scan.mask, what.tag or scan.tag
	what.max, what.exact = MOST, true
	return what
end

-- The test for nil: its tag, as `unless` of xcore.graph.
local function is_nil(vm, at)
	return { at = at, width = 8, shift = tvalue.scan(vm).tag.shift, lo = -1, hi = -1 }
end

-- ---- by type ----

local ADD = {}

-- Strings are never removed from weak tables.
local function weak_tag(vm)
	return { shift = tvalue.scan(vm).tag.shift, lo = ~layout.STRING, hi = ~layout.STRING }
end

-- Array and hash part of tables. An empty slot keeps its key, but the key is not kept alive. A table without a hash
-- part has the shared empty node.
local function add_slots(vm, g, tables, columns, mode)
	local L = vm.layout
	local array, node = columns["array." .. L.mref], columns["node." .. L.mref]
	local key, value = xcore.offsetof("Node", "key"), xcore.offsetof("Node", "val")
	local stride, empty = xcore.sizeof "Node", is_nil(vm, value)
	local function hash(at, tag)
		g:scan(values(vm, { from = tables, start = node, count = columns.hmask, more = 1, stride = stride, at = at,
			unless = empty, tag = tag }))
	end
	g:scan(
		values(vm, { from = tables, start = array, count = columns.asize, tag = mode.values and weak_tag(vm) or nil })
	)
	if not mode.keys and not mode.values then return hash({ value, key }) end
	hash({ key }, mode.keys and weak_tag(vm) or nil)
	hash({ value }, mode.values and weak_tag(vm) or nil)
end

-- Rows of columns, as columns; all if `rows` is nil.
function graph.pick(columns, rows)
	if not rows then return columns end
	local picked = {}
	for name, column in pairs(columns) do
		local one = {}
		for i, row in ipairs(rows) do one[i] = column[row] end
		picked[name] = one
	end
	return picked
end

local NO_MODE = { keys = false, values = false }

ADD[layout.TABLE] = {
	fields = function(L) return { "metatable." .. L.ref, "array." .. L.mref, "node." .. L.mref, "asize", "hmask" } end,
	add = function(vm, g, tables, columns, made)
		local metatables = columns["metatable." .. vm.layout.ref]
		g:edges(tables, metatables)
		local modes, with = made.weak:of(metatables), {}
		if not modes then return add_slots(vm, g, tables, columns, NO_MODE) end
		columns[1] = tables
		for i, metatable in ipairs(metatables) do
			local mode = modes[metatable] or NO_MODE
			with[mode] = with[mode] or {}
			table.insert(with[mode], i)
		end
		for mode, rows in pairs(with) do
			local some = graph.pick(columns, rows)
			add_slots(vm, g, some[1], some, mode)
		end
	end,
}

-- Lua functions: `pc` leads into the prototype; upvalues are objects. C functions contain their upvalues.
ADD[layout.FUNCTION] = {
	fields = function(L) return { "env." .. L.ref, "pc." .. L.mref, "ffid", "nupvalues" } end,
	add = function(vm, g, functions, columns)
		local L, in_lua, in_c = vm.layout, {}, {}
		g:edges(functions, columns["env." .. L.ref])
		for i, ffid in ipairs(columns.ffid) do
			local rows = ffid == 0 and in_lua or in_c
			rows[#rows + 1] = i
		end
		columns[1] = functions
		local lua, c = graph.pick(columns, in_lua), graph.pick(columns, in_c)
		g:edges(lua[1], lua["pc." .. L.mref])
	g:scan {
		from = lua[1],
		start = lua[1],
		offset = xcore.offsetof("GCfuncL", "uvptr"),
		count = lua.nupvalues,
		width = L.ref_size,
		exact = true,
	}
	g:scan(
		values(vm, { from = c[1], start = c[1], offset = xcore.offsetof("GCfuncC", "upvalue"), count = c.nupvalues })
	)
	end,
}

ADD[layout.UPVALUE] = {
	fields = function(L) return { "v." .. L.mref } end,
	add = function(vm, g, upvalues, columns)
		g:scan(values(vm, { from = upvalues, start = columns["v." .. vm.layout.mref], count = 1 }))
	end,
}

-- A trace by its number; 0 if there is none.
function graph.trace(vm, number)
	if number == 0 or not vm.J or number >= vm.J.sizetrace then return 0 end
	return vm.t:value("GCRef", xcore.addr(vm.J.trace) + number * vm.layout.ref_size)[vm.layout.ref]
end

ADD[layout.PROTO] = {
	fields = function(L) return { "chunkname." .. L.ref, "k." .. L.mref, "sizekgc", "trace" } end,
	add = function(vm, g, protos, columns)
		local L, start, traces = vm.layout, {}, {}
		for i, k in ipairs(columns["k." .. L.mref]) do
			start[i] = k - columns.sizekgc[i] * L.ref_size
			traces[i] = graph.trace(vm, columns.trace[i])
		end
		g:edges(protos, columns["chunkname." .. L.ref])
		g:edges(protos, traces)
		g:scan { from = protos, start = start, count = columns.sizekgc, width = L.ref_size, max = MOST, exact = true }
	end,
}

-- With 32-bit references, the functions in frames are not values: the walk over frames finds them.
local function add_frames(vm, g, thread)
	local frame = require "luajit.frame"
	for _, one in ipairs((frame.list(vm, vm.t:value("lua_State", thread)))) do g:edges(thread, one.func) end
end

ADD[layout.THREAD] = {
	fields = function(L) return { "env." .. L.ref, "stack." .. L.mref, "top" } end,
	add = function(vm, g, threads, columns)
		local L, counts, first = vm.layout, {}, 1 + vm.layout.fr2
		local stack = columns["stack." .. L.mref]
		for i, top in ipairs(columns.top) do
			local count = (top - stack[i]) // 8 - first
			counts[i] = stack[i] ~= 0 and count > 0 and count or 0
		end
		g:edges(threads, columns["env." .. L.ref])
		g:scan(values(vm, { from = threads, start = stack, offset = first * 8, count = counts, max = 1 << 20 }))
		if L.fr2 == 0 then
			for _, thread in ipairs(threads) do pcall(add_frames, vm, g, thread) end
		end
	end,
}

-- String buffers in userdata keep their shared string and the dictionaries of their options alive.
local function add_buffers(vm, g, userdata, udtypes)
	if not vm.t:has_type "SBufExt" then return end
	local owners, buffers = {}, {}
	for i, addr in ipairs(userdata) do
		if udtypes[i] == BUFFER then
			owners[#owners + 1], buffers[#buffers + 1] = addr, addr + xcore.sizeof "GCudata"
		end
	end
	for _, name in ipairs { "cowref", "dict_str", "dict_mt" } do
		if xcore.has(vm.t:type "SBufExt", name) then
			local field = name .. "." .. vm.layout.ref
			g:edges(owners, xcore.gather("SBufExt", buffers, { field }, { partial = true })[field])
		end
	end
end

ADD[layout.USERDATA] = {
	fields = function(L) return { "metatable." .. L.ref, "env." .. L.ref, "udtype" } end,
	add = function(vm, g, userdata, columns)
		g:edges(userdata, columns["metatable." .. vm.layout.ref])
		g:edges(userdata, columns["env." .. vm.layout.ref])
		if vm.layout.text_buffers then add_buffers(vm, g, userdata, columns.udtype) end
	end,
}

-- ---- traces ----

-- Types whose constants take two slots (lj_ir.h, IRT_IS64, a macro): 64-bit numbers and 64-bit references.
local WIDE = { "NUM", "I64", "U64", "P64", "LIGHTUD" }
local WIDE_GC64 = { "STR", "THREAD", "PROTO", "FUNC", "CDATA", "TAB", "UDATA" }

local function numbers_by_name(vm, enumerator, prefix)
	local numbers = {}
	for value, name in pairs(vm:enum(enumerator, prefix)) do numbers[name] = value end
	return numbers
end

-- The IR opcodes of object constants, and the types that take two slots; nil if they are unknown.
local function numbers_of_ir(vm)
	local found, types = numbers_by_name(vm, "IR_KGC", "IR_"), numbers_by_name(vm, "IRT_NIL", "IRT_")
	if not found.KGC or not types.NUM then return nil end
	found.wide = 0
	for _, list in ipairs { WIDE, vm.layout.gc64 and WIDE_GC64 or {} } do
		for _, name in ipairs(list) do found.wide = found.wide | 1 << (types[name] or 63) end
	end
	return found
end

-- Objects among the constants of a trace: fn(object, index). Constants reach from nk to those that all traces share;
-- a 64-bit constant has its value in the next slot.
function graph.trace_constants(vm, trace, fn)
	vm.ir_numbers = vm.ir_numbers or numbers_of_ir(vm) or {}
	local numbers = vm.ir_numbers
	if not numbers.KGC then return end
	local FIRST, TYPE = 0x8000 - 3, 0x1f
	local nk, wide = trace.nk, vm.layout.gc64
	if nk >= FIRST then return end
	local base = xcore.addr(trace.ir) + nk * 8
	local ir = xcore.columns(xcore.cast(base, "IRIns *"), FIRST - nk, { "o", "t.irt" })
	local i, count = 1, FIRST - nk
	while i <= count do
		local op = ir.o[i]
		if op == numbers.KGC then
			fn(vm.t:value("GCRef", base + (wide and i or i - 1) * 8)[vm.layout.ref], nk + i - 1)
		end
		if numbers.wide >> (ir["t.irt"][i] & TYPE) & 1 ~= 0 and op ~= numbers.KNULL then i = i + 1 end
		i = i + 1
	end
end

ADD[layout.TRACE] = {
	fields = function(L) return { "startpt." .. L.ref, "link", "nextroot", "nextside", "traceno" } end,
	add = function(vm, g, traces, columns)
		local startpt = columns["startpt." .. vm.layout.ref]
		for i, addr in ipairs(traces) do
			if columns.traceno[i] ~= 0 then
				local to = { startpt[i], graph.trace(vm, columns.link[i]), graph.trace(vm, columns.nextroot[i]),
					graph.trace(vm, columns.nextside[i]) }
			local ok, err = pcall(
				graph.trace_constants,
				vm,
				vm.t:value("GCtrace", addr),
				function(o) to[#to + 1] = o end
			)
				if not ok then vm:damaged(addr, "constants of a trace: " .. tostring(err.message or err)) end
				g:edges(addr, to)
			end
		end
	end,
}

ADD[layout.CDATA] = { fields = function() return {} end, add = function() end } -- its finalizer is in a table

-- ---- roots ----

local function add_basic(vm, g)
	local names = vm:enum("GCROOT_MAX", "GCROOT_")
	for i = 0, #vm.g.gcroot - 1 do
		local name = names[i]
		g:root(vm.g.gcroot[i][vm.layout.ref], graph.SLOTS[name] or "VM's own")
	end
end

-- Objects among values above the top of the running coroutine. The VM saves its top only when it calls C, so the
-- current function's values are there, and also those of older calls. Only objects that still match the type of their
-- tag count.
local function above_top(vm, thread)
	local top, last = xcore.addr(thread.top), thread.maxstack[vm.layout.mref]
	local count = math.min((last - top) // 8, 1 << 16)
	if count <= 0 then return {} end
	local bytes, found, gct = vm.t:read(top, count * 8), {}, xcore.offsetof("GChead", "gct")
	for at = 1, #bytes, 8 do
		local tag, object_at = tvalue.decode(vm, (string.unpack("<i8", bytes, at)))
		if tag >= layout.STRING and tag <= layout.USERDATA then
			local ok, kind = pcall(vm.t.u8, vm.t, object_at + gct)
			if ok and kind == tag then found[#found + 1] = object_at end
		end
	end
	return found
end

local function add_running(vm, g)
	local running, INTERP = vm.g.cur_L[vm.layout.ref], -1
	if running == 0 then return end
	g:root(running, graph.ROOTS.running)
	if vm.g.vmstate < 0 and vm.g.vmstate ~= INTERP then return end
	local ok, found = pcall(above_top, vm, vm.t:value("lua_State", running))
	if ok then
		g:root(found, graph.ROOTS.running)
	else
		vm:damaged(running, "its stack: " .. tostring(found.message or found))
	end
end

local function add_cdata(vm, g)
	local cts = vm.ctypes
	if not cts then return end
	if xcore.has(cts, "finalizer") and cts.finalizer then g:root(xcore.addr(cts.finalizer), "finalizers of cdata") end
	if xcore.has(cts, "miscmap") and cts.miscmap then g:root(xcore.addr(cts.miscmap), "FFI's map of C types") end
end

local function add_recorded(vm, g)
	if not vm.J or vm.J.cur.traceno == 0 then return end
	local name = "trace in recording"
	pcall(graph.trace_constants, vm, vm.J.cur, function(o) g:root(o, name) end)
	g:root(vm.J.cur.startpt[vm.layout.ref], name)
end

local function add_due(vm, g)
	local last = vm.g.gc.mmudata[vm.layout.ref]
	if last == 0 then return end
	local due = xcore.follow(vm.t:value("GChead", last), vm.layout.next, {}, { addresses = true, partial = true })
	g:root(due[1], "finalizers that are due")
end

local function add_roots(vm, g, made)
	local L = vm.layout
	g:root(vm.main.env[L.ref], graph.ROOTS.globals)
	local tag, registry = tvalue.decode(vm, vm.t:u64(xcore.addr(xcore.ref(vm.g, "registrytv"))))
	if tag == layout.TABLE then g:root(registry, graph.ROOTS.registry) else vm:damaged(vm.addr,
		"the registry is not a table") end
	add_basic(vm, g)
	g:root(xcore.addr(vm.main), graph.ROOTS.main)
	add_running(vm, g)
	add_due(vm, g)
	add_recorded(vm, g)
	g:root(made.fixed, "fixed by the VM")
	add_cdata(vm, g)
end

-- ---- all of it ----

local function note_fixed(made, addresses, marked)
	for i, addr in ipairs(addresses) do
		if marked[i] & FIXED ~= 0 then made.fixed[#made.fixed + 1] = addr end
	end
end

local SWEEP_STRINGS, SWEEP = 3, 4 -- of g.gc.state

local function sweeps(vm)
	local state = vm.g.gc.state
	return state == SWEEP_STRINGS or state == SWEEP
end

-- During a sweep, dead objects are still present and refer to freed ones. The rows of the others; nil: all are live.
local function living(vm, marked)
	if not marked or not sweeps(vm) then return nil end
	local dead, rows = vm.g.gc.currentwhite & 3 ~ 3, {}
	for i, bits in ipairs(marked) do
		if bits & dead == 0 or bits & FIXED ~= 0 then rows[#rows + 1] = i end
	end
	return #rows < #marked and rows or nil
end

local function add_references(vm, g, made, gct, addresses, columns)
	local rows = living(vm, columns.marked)
	if rows then
		made.dead = made.dead + #addresses - #rows
		columns[1] = addresses
		columns = graph.pick(columns, rows)
		addresses = columns[1]
	end
	if gct == layout.STRING then
		note_fixed(made, addresses, columns.marked)
	else
		ADD[gct].add(vm, g, addresses, columns, made)
	end
end

-- The empty string is a part of the state.
function graph.empty_string(vm)
	return xcore.has(vm.g, "strempty") and xcore.addr(xcore.ref(vm.g, "strempty")) or nil
end

local function wanted_fields(vm)
	local wanted = {}
	for gct in pairs(layout.NAMES) do
		if gct >= layout.STRING and gct <= layout.USERDATA then
			local fields = ADD[gct] and ADD[gct].fields(vm.layout) or {}
			if gct == layout.STRING or sweeps(vm) then fields[#fields + 1] = "marked" end
			wanted[gct] = fields
		end
	end
	return wanted
end

local function build(vm)
	local g, wanted = xcore.graph(), wanted_fields(vm)
	local made = { objects = 0, bytes = 0, dead = 0, fixed = {}, weak = weak.new(vm) }
	object.each(vm, wanted, function(gct, addresses, columns)
		local sizes = object.sizes(vm, gct, addresses, columns)
		g:nodes(addresses, sizes, layout.NAMES[gct])
		made.objects = made.objects + #addresses
		for _, size in ipairs(sizes) do made.bytes = made.bytes + size end
		add_references(vm, g, made, gct, addresses, columns)
	end)
	local empty = graph.empty_string(vm)
	if empty then
		g:nodes(empty, xcore.sizeof "GCstr", "empty string")
		g:root(empty, "fixed by the VM")
	end
	add_roots(vm, g, made)
	return { graph = g, made = made }
end

-- The graph of a VM, and its counts: objects, bytes, and objects that were already dead.
function graph.of(vm)
	if not vm.graph then
		vm.graph = still.run(vm, function() return build(vm) end)
	end
	return vm.graph.graph, vm.graph.made
end

-- Reports damage found while the graph was built, and whether all of it was understood.
function graph.tell(vm, report)
	local g, made = graph.of(vm)
	if not still.has_moved(vm) and not vm.damages and g.strays == 0 and g.missing == 0 then return end
	local section = report:section("damage", vm.t.live and "LuaJIT: a running VM" or "LuaJIT: damage")
	vm:tell(section)
	if g.strays > 0 then
		section:warning(("%d references lead to no object"):format(g.strays), "luajit.check lists them")
	end
	if g.missing > 0 then
		section:warning(("%d slots could not be read"):format(g.missing), "luajit.check lists them")
	end
	if made.dead > 0 then section:note(("%d objects were about to be freed"):format(made.dead)) end
end

return graph
