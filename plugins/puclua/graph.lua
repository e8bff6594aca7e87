-- graph: references between all objects of a state, as Lua's collector follows them.
local xcore = require "xcore"
local gc = require "puclua.gc"
local layout = require "puclua.layout"
local object = require "puclua.object"
local tab = require "puclua.tab"
local value = require "puclua.value"

local graph = {}

local FIXED = 1 << 5 -- of marked, in 5.1 and 5.2

-- Scans arrays of values: `what` as in g:scan.
local function values(vm, what)
	what.stride = what.stride or vm.layout.value_size
	what.tag = layout.tag(vm.layout, vm.layout.tt)
	what.exact = true
	return what
end

-- ---- weak tables ----

-- The weak mode of a metatable: "k", "v", "kv"; "" for most.
local function mode_of(vm, metatable)
	vm.modes = vm.modes or {}
	local mode = vm.modes[metatable]
	if not mode then
		local ok, found = pcall(function()
			local at = tab.get(vm, metatable, "__mode")
			local kind, text = value.decode(vm, at)
			return kind == "string" and vm:string(text, 8) or ""
		end)
		mode = ok and found or ""
		vm.modes[metatable] = mode
	end
	return mode
end

-- ---- by type ----

local ADD = {}

ADD[layout.STRING] = function() end

local function scan_nodes(vm, g, from, start, count, is_key)
	local L = vm.layout
	local nil_value = { at = L.node_value + L.tt, width = 1, mask = 0xf, lo = 0, hi = 0 }
	local at, tt = L.node_value, L.node_value + L.tt
	if is_key then at, tt = L.key_value, L.key_tt end
	g:scan {
		from = from,
		start = start,
		count = count,
		stride = L.node_size,
		at = { at },
		tag = layout.tag(L, tt - at),
		unless = nil_value,
		exact = true,
	}
end

-- The parts of a weak table that are kept alive: for "k" (ephemerons) the values, for "v" the keys.
ADD[layout.TABLE] = function(vm, g, tables, c)
	local _, parts = object.table_parts(vm)
	local arrays = { from = {}, start = {}, count = {} }
	local keys, held = { {}, {}, {} }, { {}, {}, {} }
	for i, addr in ipairs(tables) do
		local slots, nodes = parts(c, i)
		local mode = c.metatable[i] ~= 0 and mode_of(vm, c.metatable[i]) or ""
		local function add(list)
			list[1][#list[1] + 1], list[2][#list[2] + 1], list[3][#list[3] + 1] = addr, c.node[i], nodes
		end
		if slots > 0 and not mode:find "v" then
			local n = #arrays.from + 1
			arrays.from[n], arrays.start[n], arrays.count[n] = addr, c.array[i], slots
		end
		if nodes > 0 and not mode:find "k" then add(keys) end
		if nodes > 0 and not mode:find "v" then add(held) end
	end
	g:edges(tables, c.metatable)
	if #arrays.from > 0 then g:scan(values(vm, arrays)) end
	if #keys[1] > 0 then scan_nodes(vm, g, keys[1], keys[2], keys[3], true) end
	if #held[1] > 0 then scan_nodes(vm, g, held[1], held[2], held[3], false) end
end

ADD[layout.FUNCTION] = function(vm, g, functions, c, made)
	local _, is_c = object.function_fields(vm)
	local lua, protos, counts, c_functions, c_counts = {}, {}, {}, {}, {}
	for i, addr in ipairs(functions) do
		if is_c(c, i) then
			c_functions[#c_functions + 1], c_counts[#c_counts + 1] = addr, c.nupvalues[i]
		else
			lua[#lua + 1], protos[#protos + 1], counts[#counts + 1] = addr, c.p[i], c.nupvalues[i]
		end
	end
	if c.env then g:edges(functions, c.env) end
	if #lua > 0 then
		g:edges(lua, protos)
		g:scan { from = lua, start = lua, offset = xcore.offsetof("LClosure", "upvals"), count = counts, exact = true }
	end
	if #c_functions > 0 then
		g:scan(
			values(
				vm,
				{
					from = c_functions,
					start = c_functions,
					offset = xcore.offsetof("CClosure", "upvalue"),
					count = c_counts,
				}
			)
		)
	end
	if vm.layout.counted then gc.counted_upvalues(vm, functions, c, made.upvalues) end
end

ADD[layout.USERDATA] = function(vm, g, userdata, c)
	g:edges(userdata, c[vm.layout.userdata .. "metatable"])
	if c["uv.env"] then g:edges(userdata, c["uv.env"]) end
	if c.nuvalue then
		g:scan(
			values(
				vm,
				{
					from = userdata,
					start = userdata,
					offset = xcore.offsetof("Udata", "uv"),
					count = c.nuvalue,
					stride = xcore.sizeof "UValue",
				}
			)
		)
	elseif c.ttuv_ then
		local rows, held = {}, {}
		for i, tt in ipairs(c.ttuv_) do
			if layout.collectable(vm.layout, tt) then
				rows[#rows + 1], held[#held + 1] = userdata[i], vm.t:ptr(userdata[i] + xcore.offsetof("Udata", "user_"))
			end
		end
		if #rows > 0 then g:edges(rows, held) end
	end
end

-- To the top; for a thread that runs Lua code, to the end of the call's stack, because the top is not saved while it
-- runs.
ADD[layout.THREAD] = function(vm, g, threads, c)
	local counts, L = {}, vm.layout
	local start = {}
	for i, addr in ipairs(threads) do
		start[i] = vm.t:ptr(addr + L.stack)
		local count = (vm.t:ptr(addr + L.top) - start[i]) // L.value_size
		counts[i] = start[i] ~= 0 and count > 0 and count or 0
	end
	g:scan(values(vm, { from = threads, start = start, count = counts, max = 1 << 24 }))
	if L.array_of_calls then
		g:scan(values(vm, { from = threads, start = threads, offset = xcore.offsetof("lua_State", "l_gt"), count = 1 }))
	end
	return c
end

local function add_upvalues(vm, g, upvalues)
	local start = {}
	for i, addr in ipairs(upvalues) do start[i] = vm.t:ptr(addr + vm.layout.uv_v) end
	g:scan(values(vm, { from = upvalues, start = start, count = 1 }))
end

local function add_prototypes(vm, g, protos, c)
	g:edges(protos, c.source)
	g:scan(values(vm, { from = protos, start = c.k, count = c.sizek }))
	g:scan { from = protos, start = c.p, count = c.sizep, exact = true }
	local var, size = xcore.offsetof("LocVar", "varname"), xcore.sizeof "LocVar"
	g:scan { from = protos, start = c.locvars, count = c.sizelocvars, stride = size, at = { var }, exact = true }
	if vm.layout.array_of_calls then
		g:scan { from = protos, start = c.upvalues, count = c.sizeupvalues, exact = true }
	else
		local name = xcore.offsetof("Upvaldesc", "name")
		g:scan {
			from = protos,
			start = c.upvalues,
			count = c.sizeupvalues,
			stride = xcore.sizeof "Upvaldesc",
			at = { name },
			exact = true,
		}
	end
end

local function wanted_fields(vm)
	local L = vm.layout
	local wanted = {
		[layout.TABLE] = { "metatable", "array" },
		[layout.FUNCTION] = L.array_of_calls and { "p", "env" } or { "p" },
		[layout.USERDATA] = { L.userdata .. "metatable" },
		[L.proto] = { "source", "k", "p", "locvars", "upvalues" },
	}
	if L.tagged_header then
		table.insert(wanted[layout.USERDATA], "uv.env")
		wanted[layout.STRING] = { "tsv.marked" }
	elseif L.counted then
		table.insert(wanted[layout.USERDATA], "ttuv_")
	end
	return wanted
end

-- ---- roots ----

local function add_fixed(vm, g)
	local list, next = vm.g.fixedgc, vm.layout.header .. "next"
	if list then g:root(xcore.follow(list, next, {}, { addresses = true, partial = true })[1], "fixed by Lua") end
end

local function add_due(vm, g)
	local name = "finalizers that are due"
	if vm.layout.array_of_calls then
		if vm.g.tmudata then
			g:root(xcore.follow(vm.g.tmudata, "gch.next", {}, { addresses = true, partial = true })[1], name)
		end
	elseif vm.g.tobefnz then
		g:root(
			xcore.follow(vm.g.tobefnz, vm.layout.header .. "next", {}, { addresses = true, partial = true })[1],
			name
		)
	end
end

local function add_roots(vm, g)
	local globals = tab.globals(vm)
	if globals then g:root(globals, "_G") end
	local registry = tab.registry(vm)
	if registry then g:root(registry, "registry") else vm:damaged(vm.addr, "the registry is not a table") end
	g:root(xcore.addr(vm.main), "main thread")
	local running = require("puclua.bt").running(vm)
	if running ~= xcore.addr(vm.main) then g:root(running, "running coroutine") end
	for i = 0, #vm.g.mt - 1 do
		if vm.g.mt[i] then g:root(vm.g.mt[i], "metatables of types") end
	end
	for i = 0, #vm.g.tmname - 1 do
		if vm.g.tmname[i] then g:root(vm.g.tmname[i], "fixed by Lua") end
	end
	if vm.layout.fixed_list then add_fixed(vm, g) end
	add_due(vm, g)
end

-- ---- all of it ----

local function add_batch(vm, g, made, kind, addresses, columns)
	local sizes = object.sizes(vm, kind, addresses, columns)
	g:nodes(addresses, sizes, vm.layout.names[kind])
	made.objects = made.objects + #addresses
	for _, size in ipairs(sizes) do made.bytes = made.bytes + size end
	if kind == layout.STRING and vm.layout.tagged_header then
		local fixed = {}
		for i, marked in ipairs(columns["tsv.marked"]) do
			if marked & FIXED ~= 0 then fixed[#fixed + 1] = addresses[i] end
		end
		g:root(fixed, "fixed by Lua")
	elseif kind == vm.layout.upvalue then
		add_upvalues(vm, g, addresses)
	elseif kind == vm.layout.proto then
		add_prototypes(vm, g, addresses, columns)
	else
		ADD[kind](vm, g, addresses, columns, made)
	end
end

-- Upvalues of 5.3 are not objects of the collector, and are found only through their functions.
local function add_counted(vm, g, made)
	local list, size = {}, xcore.sizeof "UpVal"
	for addr in next, made.upvalues do list[#list + 1] = addr end
	if #list == 0 then return end
	table.sort(list)
	g:nodes(list, size, "upvalue")
	made.objects, made.bytes = made.objects + #list, made.bytes + #list * size
	add_upvalues(vm, g, list)
end

-- The graph of a state, and its counts: objects and bytes.
function graph.of(vm)
	if not vm.graph then
		local g, made = xcore.graph(), { objects = 0, bytes = 0, upvalues = {} }
		object.each(vm, wanted_fields(vm), function(...) add_batch(vm, g, made, ...) end)
		add_counted(vm, g, made)
		add_roots(vm, g)
		vm.graph = { g, made }
	end
	return vm.graph[1], vm.graph[2]
end

-- Reports damage found while the graph was built, and whether all of it was understood.
function graph.tell(vm, report)
	local g = graph.of(vm)
	if not vm.damages and not vm.others and g.strays == 0 and g.missing == 0 then return end
	local section = report:section("damage", "Lua: notes")
	vm:tell(section)
	if g.strays > 0 then section:warning(("%d references lead to no object"):format(g.strays)) end
	if g.missing > 0 then section:warning(("%d slots could not be read"):format(g.missing)) end
	if vm.t.live then section:note "Lua was running during the read: repeat the command, or use a core" end
end

return graph
