-- object: all objects of a state, in batches by type, and their sizes, by the formulas of Lua's own count.
local xcore = require "xcore"
local layout = require "puclua.layout"

local object = {}

local BATCH = 65536
local LARGEST = 1 << 40 -- bytes of an object: more is damage
local SPARE = 5 -- slots of a stack after stack_last (EXTRA_STACK)
local MOST_CALLS = 1 << 20

-- ---- sizes: by type, the struct, members, and a function of their columns, a row and the address ----

local SIZE = {}

SIZE[layout.STRING] = function(vm)
	local header = vm.contents_at + 1
	if vm.layout.tagged_header then
		return "TString", { "tsv.len" }, function(c, i) return header + c["tsv.len"][i] end
	end
	return "TString", { "tt", "shrlen", "u.lnglen" }, function(c, i)
		return header + (c.tt[i] & 0xf0 == 0 and c.shrlen[i] or c["u.lnglen"][i])
	end
end

-- The table's array: alimit may be less than its size, which is then a power of two.
local function real_limit(flags, limit)
	if flags & 0x80 == 0 or limit & (limit - 1) == 0 then return limit end
	local size = 1
	while size < limit do size = size << 1 end
	return size
end

-- Is a node the shared node of empty tables? That one is in the program or in Lua's library; others were allocated.
local function is_dummy(vm)
	local known = {}
	return function(node)
		local map = known[node] == nil and vm.t:map(node)
		if known[node] == nil then known[node] = map and map.path ~= nil and map.path:find "^/" ~= nil end
		return known[node]
	end
end

-- Slots of the array and nodes of the hash part of the tables in columns.
function object.table_parts(vm)
	local dummy = is_dummy(vm)
	local counted_free = vm.layout.counted or vm.layout.alimit -- lastfree is NULL without a hash part
	local fields = { "lsizenode", "node", "lastfree", "flags", vm.layout.alimit and "alimit" or "sizearray" }
	return fields, function(c, i)
		local nodes = 1 << (c.lsizenode[i] & 31)
		if counted_free then
			if c.lastfree[i] == 0 then nodes = 0 end
		elseif nodes == 1 and dummy(c.node[i]) then
			nodes = 0
		end
		local limit = c.alimit
		return limit and real_limit(c.flags[i], limit[i]) or c.sizearray[i], nodes
	end
end

SIZE[layout.TABLE] = function(vm)
	local header, value, node = xcore.sizeof "Table", vm.layout.value_size, vm.layout.node_size
	local fields, parts = object.table_parts(vm)
	return "Table", fields, function(c, i)
		local slots, nodes = parts(c, i)
		return header + slots * value + nodes * node
	end
end

-- Is the function a C function? From columns that function_fields names.
function object.function_fields(vm)
	if vm.layout.array_of_calls then return { "isC", "nupvalues" }, function(c, i) return c.isC[i] ~= 0 end end
	return { "tt", "nupvalues" }, function(c, i) return c.tt[i] & 0x30 ~= 0 end
end

SIZE[layout.FUNCTION] = function(vm)
	local lua, c_function = xcore.offsetof("LClosure", "upvals"), xcore.offsetof("CClosure", "upvalue")
	local fields, is_c = object.function_fields(vm)
	return "LClosure", fields, function(c, i)
		if is_c(c, i) then return c_function + c.nupvalues[i] * vm.layout.value_size end
		return lua + c.nupvalues[i] * vm.t.pointer_size
	end
end

SIZE[layout.USERDATA] = function(vm)
	if not xcore.has(vm.t:type "Udata", "nuvalue") then
		local len, header = vm.layout.userdata .. "len", xcore.sizeof "Udata"
		return "Udata", { len }, function(c, i) return header + c[len][i] end
	end
	-- Without user values there is also no place for the list of the collector (Udata0).
	local bare, header, value = xcore.offsetof("Udata", "gclist"), xcore.offsetof("Udata", "uv"), xcore.sizeof "UValue"
	return "Udata", { "len", "nuvalue" }, function(c, i)
		return (c.nuvalue[i] == 0 and bare or header + c.nuvalue[i] * value) + c.len[i]
	end
end

-- CallInfos that a thread has allocated.
local function calls(vm, addr)
	local base = xcore.ref(vm.t:value("lua_State", addr), "base_ci")
	local first = vm.t:ptr(xcore.addr(base, "next"))
	if first == 0 then return 0 end
	local _, count, why = xcore.follow(vm.t:value("CallInfo", first), "next", {}, { partial = true, max = MOST_CALLS })
	if why then vm:damaged(addr, "list of calls: " .. why) end
	return count
end

SIZE[layout.THREAD] = function(vm)
	local L, call = vm.layout, xcore.sizeof "CallInfo"
	if L.array_of_calls then
		return "lua_State", { "stacksize", "size_ci" }, function(c, i)
			return L.thread_size + c.stacksize[i] * L.value_size + c.size_ci[i] * call
		end
	end
	if not L.alimit then
		return "lua_State", { "stacksize" }, function(c, i, addr)
			return L.thread_size + c.stacksize[i] * L.value_size + calls(vm, addr) * call
		end
	end
	return "lua_State", {}, function(_, _, addr)
		local stack = vm.t:ptr(addr + L.stack)
		local slots = stack ~= 0 and vm.t:ptr(addr + L.stack_last) - stack + SPARE * L.value_size or 0
		return L.thread_size + slots + calls(vm, addr) * call
	end
end

local PARTS = {
	{ "sizecode", "code" }, { "sizep", "p" }, { "sizek", "k" }, { "sizelineinfo", "lineinfo" }, { "sizelocvars", "locvars" },
	{ "sizeupvalues", "upvalues" }, { "sizeabslineinfo", "abslineinfo" },
}

local function prototype_sizes(vm)
	local proto, fields, each = vm.t:type "Proto", {}, {}
	for _, part in ipairs(PARTS) do
		if xcore.has(proto, part[1]) then
			for _, m in ipairs(proto:strip():members()) do
				if m.name == part[2] then
					fields[#fields + 1], each[#each + 1] = part[1], m.type:strip().target.size
				end
			end
		end
	end
	local header = xcore.sizeof "Proto"
	return "Proto", fields, function(c, i)
		local size = header
		for n, field in ipairs(fields) do size = size + c[field][i] * each[n] end
		return size
	end
end

-- The sizer of a type; nil if it is not a type of objects.
function object.sizer(vm, kind)
	vm.sizers = vm.sizers or {}
	local sizer = vm.sizers[kind]
	if sizer == nil then
		local make = SIZE[kind] or kind == vm.layout.proto and prototype_sizes
		if kind == vm.layout.upvalue then
			make = function() return "UpVal", {}, function() return xcore.sizeof "UpVal" end end
		end
		sizer = false
		if make and vm.layout.names[kind] then
			sizer = {}
			sizer.struct, sizer.fields, sizer.of = make(vm)
		end
		vm.sizers[kind] = sizer
	end
	return sizer or nil
end

-- Bytes of the objects of a batch, as a column; 0 for those of an impossible size.
function object.sizes(vm, kind, addresses, columns)
	local of, sizes = object.sizer(vm, kind).of, {}
	for i, addr in ipairs(addresses) do
		local size = of(columns, i, addr)
		local good = size >= 0 and size <= LARGEST
		if not good then vm:damaged(addr, ("a %s of %d bytes"):format(vm.layout.names[kind], size)) end
		sizes[i] = good and size or 0
	end
	return sizes
end

-- ---- all objects ----

local function hand(vm, kind, addresses, wanted, fn)
	local sizer = object.sizer(vm, kind)
	if not sizer then
		return vm:damaged(addresses[1], ("%d objects of the invalid type %d"):format(#addresses, kind))
	end
	local fields, have = {}, {}
	for _, list in ipairs { sizer.fields, wanted and wanted[kind] or {} } do
		for _, name in ipairs(list) do
			if not have[name] then fields[#fields + 1] = name end
			have[name] = true
		end
	end
	local columns, missing = {}, 0
	if #fields > 0 then columns, missing = xcore.gather(sizer.struct, addresses, fields, { partial = true }) end
	if missing == 0 then return fn(kind, addresses, columns) end
	vm:damaged(0, ("%d objects of type %s cannot be read"):format(missing, vm.layout.names[kind]))
	local left, rows = { {} }, {}
	for i in ipairs(addresses) do
		if columns[fields[1]][i] then rows[#rows + 1] = i end
	end
	for _, name in ipairs(fields) do left[name] = {} end
	for n, i in ipairs(rows) do
		left[1][n] = addresses[i]
		for _, name in ipairs(fields) do left[name][n] = columns[name][i] end
	end
	if #rows > 0 then fn(kind, left[1], left) end
end

-- A list of objects, in batches sorted by type. The main thread may be in it, and counts elsewhere.
local function from_list(vm, head, wanted, fn, stop)
	local next, tt, main = vm.layout.header .. "next", vm.layout.header .. "tt", xcore.addr(vm.main)
	local addr = head and xcore.addr(head) or 0
	while addr ~= 0 do
		local columns, count, why = xcore.follow(vm.t:value("GCObject", addr), next, { tt },
			{ addresses = true, partial = true, max = BATCH, stop = stop })
		local by_kind, kinds = {}, columns[tt]
		for i, at in ipairs(columns[1]) do
			local kind = kinds[i] & 0xf
			local list = by_kind[kind]
			if not list then
				list = { n = 0 }
				by_kind[kind] = list
			end
			if at ~= main then
				local n = list.n + 1
				list[n], list.n = at, n
			end
		end
		for _, list in pairs(by_kind) do list.n = nil end
		for kind = 0, 15 do
			if by_kind[kind] and #by_kind[kind] > 0 then hand(vm, kind, by_kind[kind], wanted, fn) end
		end
		if count < BATCH then
			if why then vm:damaged(columns[1][count] or addr, why) end
			return
		end
		addr = vm.t:ptr(columns[1][count] + xcore.offsetof("GCObject", next))
		if addr == stop then return end
	end
end

-- 5.1 and 5.2 keep strings (5.2: short ones) only in the string table.
local function from_strings(vm, wanted, fn)
	local strt = vm.g.strt
	if not strt.hash or strt.size <= 0 then return end
	local heads, next = {}, vm.layout.header .. "next"
	for i = 0, strt.size - 1, BATCH do
		local bytes = vm.t:read(xcore.addr(strt.hash) + i * 8, math.min(BATCH, strt.size - i) * 8)
		for at = 1, #bytes, 8 do heads[#heads + 1] = string.unpack("<i8", bytes, at) end
	end
	local columns, _, why = xcore.chains(
		"GCObject",
		heads,
		next,
		{},
		{ addresses = true, partial = true, max = 2 * math.max(strt.nuse, 0) + BATCH }
	)
	if why then vm:damaged(0, "table of strings: " .. why) end
	if #columns[1] > 0 then hand(vm, layout.STRING, columns[1], wanted, fn) end
end

-- Open upvalues are in a ring through the state.
local function from_open(vm, wanted, fn)
	local ring = vm.g.uvhead
	local head, open = xcore.addr(ring), {}
	local one = ring.u.l.next
	while one and xcore.addr(one) ~= head and #open < 1 << 20 do
		open[#open + 1] = xcore.addr(one)
		one = one.u.l.next
	end
	if #open > 0 then hand(vm, vm.layout.upvalue, open, wanted, fn) end
end

local function from_due(vm, wanted, fn)
	local last = vm.g.tmudata
	if not last then return end
	local due = xcore.follow(last, vm.layout.header .. "next", {}, { addresses = true, partial = true })
	hand(vm, layout.USERDATA, due[1], wanted, fn)
end

-- Calls fn(kind, addresses, columns) for batches that contain all objects of the state, each once. `wanted[kind]`
-- names members for the columns, in addition to those of the sizer.
function object.each(vm, wanted, fn)
	hand(vm, layout.THREAD, { xcore.addr(vm.main) }, wanted, fn)
	for _, name in ipairs { "rootgc", "allgc", "finobj", "tobefnz", "fixedgc" } do
		if xcore.has(vm.g, name) then from_list(vm, vm.g[name], wanted, fn) end
	end
	if vm.layout.array_of_calls then from_due(vm, wanted, fn) end
	if vm.layout.tagged_header then
		from_strings(vm, wanted, fn)
		from_open(vm, wanted, fn)
	end
end

return object
