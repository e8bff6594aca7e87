-- GC objects: their share of g.gc.total, and all objects in batches of columns.
--
-- Sizes are those that LuaJIT subtracts when it frees an object (lj_str.c, lj_tab.c, lj_func.c, lj_cdata.c,
-- lj_trace.c, lj_udata.c, lj_state.c).
local xcore = require "xcore"
local layout = require "luajit.layout"

local object = {}

local BATCH = 65536
local LARGEST = 1 << 40 -- bytes of an object: more is damage

-- ---- sizes of one type: columns of its objects → a column of sizes ----

local function string_sizes(vm)
	local header = xcore.sizeof "GCstr"
	if vm.layout.padded_strings then
		return { "len" }, function(c, i) return header + (c.len[i] + 4 & ~3) end
	end
	return { "len" }, function(c, i) return header + c.len[i] + 1 end
end

local function table_sizes()
	local header, node, value = xcore.sizeof "GCtab", xcore.sizeof "Node", 8
	return { "asize", "hmask", "colo" }, function(c, i)
		local size, colo, asize, hmask = header, c.colo[i], c.asize[i], c.hmask[i]
		if colo ~= 0 then size = size + (colo & 0x7f) * value end
		if colo <= 0 then size = size + asize * value end
		if hmask > 0 then size = size + (hmask + 1) * node end
		return size
	end
end

local function function_sizes(vm)
	local lua = xcore.sizeof "GCfuncL" - vm.layout.ref_size
	local c_function = xcore.sizeof "GCfuncC" - 8
	return { "ffid", "nupvalues" }, function(c, i)
		if c.ffid[i] == 0 then return lua + c.nupvalues[i] * vm.layout.ref_size end
		return c_function + c.nupvalues[i] * 8
	end
end

local function trace_sizes()
	local header = xcore.sizeof "GCtrace" + 7 & ~7
	local snapshot, entry = xcore.sizeof "SnapShot", xcore.sizeof "SnapEntry"
	return { "nins", "nk", "nsnap", "nsnapmap" }, function(c, i)
		return header + (c.nins[i] - c.nk[i]) * 8 + c.nsnap[i] * snapshot + c.nsnapmap[i] * entry
	end
end

-- Attributes do not count, only the type behind them (ctype_raw). A type without a size is a pointer: functions,
-- externs.
local function ctype_sizes(vm)
	local CT_ENUM, CT_ATTRIB, POINTER = 5, 8, vm.t.pointer_size
	local types, sizes = vm.ctypes.tab, {}
	return function(id)
		local size = sizes[id]
		if size then return size end
		local ct, steps = types[id], 0
		while ct.info >> 28 == CT_ATTRIB and steps < 16 do ct, steps = types[ct.info & 0xffff], steps + 1 end
		size = ct.info >> 28 <= CT_ENUM and ct.size or POINTER
		sizes[id] = size
		return size
	end
end

local function cdata_sizes(vm)
	local VARIABLE, header = 0x80, xcore.sizeof "GCcdata"
	local before, of = xcore.sizeof "GCcdataVar", ctype_sizes(vm)
	local extra = xcore.offsetof("GCcdataVar", "extra")
	return { "ctypeid", "marked" }, function(c, i, addr)
		if c.marked[i] & VARIABLE == 0 then return header + of(c.ctypeid[i]) end
		return vm.t:u16(addr - before + extra) + vm.t:u32(addr - before + xcore.offsetof("GCcdataVar", "len"))
	end, function(c, i) return c.marked[i] & VARIABLE ~= 0 end
end

local function fixed(size)
	return {}, function() return size end
end

local KINDS = {
	[4] = { "GCstr", string_sizes },
	[5] = { "GCupval", function() return fixed(xcore.sizeof "GCupval") end },
	[6] = { "lua_State", function()
		local size = xcore.sizeof "lua_State"
		return { "stacksize" }, function(c, i) return size + c.stacksize[i] * 8 end
	end },
	[7] = { "GCproto", function() return { "sizept" }, function(c, i) return c.sizept[i] end end },
	[8] = { "GCfuncL", function_sizes },
	[9] = { "GCtrace", trace_sizes },
	[10] = { "GCcdata", cdata_sizes },
	[11] = { "GCtab", table_sizes },
	[12] = { "GCudata", function()
		local size = xcore.sizeof "GCudata"
		return { "len" }, function(c, i) return size + c.len[i] end
	end },
}

-- The struct of the objects of a GC type.
function object.struct(gct)
	return KINDS[gct] and KINDS[gct][1]
end

-- The sizer of a type: the members to read, and a function of those columns, a row and the object's address; `single`
-- reports rows whose columns are not enough, so that the address is needed.
function object.sizer(vm, gct)
	vm.sizers = vm.sizers or {}
	local sizer = vm.sizers[gct]
	if not sizer then
		local fields, of, single = KINDS[gct][2](vm)
		sizer = { fields = fields, of = of, single = single }
		vm.sizers[gct] = sizer
	end
	return sizer
end

-- ---- all objects ----

-- Passes on a batch of objects of one type: their addresses, and columns of the members for sizing and of those the
-- caller wants.
local function hand(vm, gct, addresses, wanted, fn)
	local fields, have = {}, {}
	for _, list in ipairs { object.sizer(vm, gct).fields, wanted and wanted[gct] or {} } do
		for _, name in ipairs(list) do
			if not have[name] then
				have[name] = true
				fields[#fields + 1] = name
			end
		end
	end
	local columns = #fields > 0 and xcore.gather(KINDS[gct][1], addresses, fields) or {}
	fn(gct, addresses, columns)
end

-- Addresses of a batch by type.
local function sort(vm, addresses, gct, only)
	local by_type = xcore.group(addresses, gct)
	for kind, list in pairs(by_type) do
		local wrong = not KINDS[kind] and ("gct %d is not a type of object"):format(kind)
			or kind == layout.CDATA and not vm.ctypes and "an object of the FFI, which was not loaded"
		if wrong then vm:damaged(list[1], wrong) end
		if wrong or only and kind ~= only then by_type[kind] = nil end
	end
	return by_type
end

-- The list of g.gc.root in batches, sorted by type: give(gct, addresses); of the type `only`, if it is given. Each
-- batch is compared with an older one, which changes after 1, 2, 4, ... batches (Brent), so a cyclic list ends.
local function from_list(vm, give, only)
	local next, head, old, batches, turn = vm.layout.next, vm.g.gc.root[vm.layout.ref], nil, 0, 1
	while head ~= 0 do
		local columns, count, why = xcore.follow(vm.t:value("GChead", head), next, { "gct" },
			{ addresses = true, partial = true, max = BATCH, stop = old })
		for kind, addresses in pairs(sort(vm, columns[1], columns.gct, only)) do give(kind, addresses) end
		local last = columns[1][count]
		if why and count < BATCH then
			vm.cut = true
			return vm:damaged(last or head, why)
		end
		batches = batches + 1
		if batches == turn then old, turn = head, turn * 2 end
		head = last and vm.t:value("GChead", last).nextgc[vm.layout.ref] or 0
		if head == old then
			vm.cut = true
			return vm:damaged(last, "the list of objects is cyclic")
		end
	end
end

-- More strings than this are damage: chains that lead through reused memory.
function object.most_strings(vm)
	return 2 * (vm.layout.interned and vm.g.str.num or vm.g.strnum) + BATCH
end

local function anchors(vm)
	local interned = vm.layout.interned and vm.g.str
	local tab, mask = interned and interned.tab or vm.g.strhash, interned and interned.mask or vm.g.strmask
	return xcore.columns(tab, mask + 1, { vm.layout.ref })[vm.layout.ref], mask
end

-- The table contains strings, unless they were freed. Returns the columns of strings, and the number of other
-- objects.
local function only_strings(columns, fields)
	local good, freed = {}, 0
	for i, gct in ipairs(columns.gct) do
		if gct == layout.STRING then good[#good + 1] = i else freed = freed + 1 end
	end
	if freed == 0 then return columns, 0 end
	local left = { {} }
	for _, name in ipairs(fields) do left[name] = {} end
	for place, i in ipairs(good) do
		for name, column in pairs(left) do column[place] = columns[name][i] end
	end
	return left, freed
end

-- Objects of the list, as from object.each.
function object.from_list(vm, wanted, fn, only)
	from_list(vm, function(gct, addresses) hand(vm, gct, addresses, wanted, fn) end, only)
end

-- Anchors of the interning table, whose lowest bit marks a chain with a second hash, and its mask. A running VM that
-- has enlarged the table has freed the one at the address read before: it is read again.
function object.anchors(vm)
	local ok, list, mask = pcall(anchors, vm)
	if not ok and vm.t.live then ok, list, mask = pcall(xcore.retry, function() return anchors(vm) end) end
	if ok then return list, mask end
	vm:damaged(0, "string table: " .. tostring(type(list) == "table" and list.message or list))
	return {}, 0
end

local function tell_freed(vm, freed)
	if freed > 0 then
		vm:damaged(0, ("string table: %d of its objects are not strings: they were freed or overwritten"):format(freed))
	end
end

-- The contents of the string table, in batches: give(columns, levels).
local function from_table(vm, fields, give)
	local anchors = object.anchors(vm)
	for from = 1, #anchors, BATCH do
		local columns, _, why, levels = xcore.chains("GCstr", anchors, vm.layout.next, fields,
			{ first = from, count = BATCH, mask = ~1, addresses = true, partial = true, max = object.most_strings(vm) })
		if why then vm:damaged(0, "string table: " .. why) end
		give(columns, levels)
	end
end

local function from_strings(vm, wanted, fn)
	local fields = { "gct", table.unpack(object.sizer(vm, layout.STRING).fields) }
	for _, name in ipairs(wanted and wanted[layout.STRING] or {}) do fields[#fields + 1] = name end
	from_table(vm, fields, function(columns, levels)
		local strings, freed = only_strings(columns, fields)
		tell_freed(vm, freed)
		if #strings[1] > 0 then fn(layout.STRING, strings[1], strings, levels) end
	end)
end

-- Userdata and cdata with due finalizers are in a separate ring.
local function from_due(vm, give)
	local last = vm.g.gc.mmudata[vm.layout.ref]
	if last == 0 then return end
	local due = xcore.follow(
		vm.t:value("GChead", last),
		vm.layout.next,
		{ "gct" },
		{ addresses = true, partial = true }
	)
	for i, addr in ipairs(due[1]) do
		if KINDS[due.gct[i]] then give(due.gct[i], { addr }) end
	end
end

-- Open upvalues are in a ring through the state (and in lists of their threads) until they are closed.
local function from_open(vm, give)
	local ring, ref = vm.g.uvhead, vm.layout.ref
	local head = xcore.addr(ring)
	local first = ring.next[ref]
	if first == 0 or first == head then return end
	local open, _, why = xcore.follow(vm.t:value("GCupval", first), "next." .. ref, {}, { stop = head, partial = true })
	if why then vm:damaged(first, "open upvalues: " .. why) end
	give(layout.UPVALUE, open[1])
end

-- Calls fn(gct, addresses, columns) for batches that contain all objects of the VM, each once. `wanted[gct]` names
-- members for the columns, in addition to those of object.sizer. (columns[1] may or may not exist.) With `only`,
-- objects of one type.
function object.each(vm, wanted, fn, only)
	local function give(gct, addresses)
		if not only or gct == only then hand(vm, gct, addresses, wanted, fn) end
	end
	if vm.t.live then require("luajit.still").freeze(vm) end
	if only ~= layout.STRING then
		from_list(vm, give, only)
		from_due(vm, give)
		from_open(vm, give)
	end
	if not only or only == layout.STRING then from_strings(vm, wanted, fn) end
end

-- Bytes of the objects of a batch, as a column; 0 for those of an impossible size.
function object.sizes(vm, gct, addresses, columns)
	local of, sizes = object.sizer(vm, gct).of, {}
	for i, addr in ipairs(addresses) do
		local size = of(columns, i, addr)
		local good = size >= 0 and size <= LARGEST
		if not good then vm:damaged(addr, ("a %s of %d bytes"):format(layout.NAMES[gct], size)) end
		sizes[i] = good and size or 0
	end
	return sizes
end

-- Does the size of some depend on more than their columns: on the memory before them?
local function is_single(sizer, columns, count)
	for i = 1, sizer.single and count or 0 do
		if sizer.single(columns, i) then return true end
	end
	return false
end

-- Sizes of objects of one type: { size, … }, the number with each size, and the address of one of them.
local function tally(vm, gct, addresses)
	local sizer, sizes = object.sizer(vm, gct), {}
	if #sizer.fields == 0 then return { sizer.of() }, { #addresses }, { addresses[1] } end
	local columns, counts, firsts, missing = xcore.tally(KINDS[gct][1], addresses, sizer.fields, { partial = true })
	if missing > 0 then
		vm:damaged(addresses[1], ("%d %ss of one list cannot be read"):format(missing, layout.NAMES[gct]))
	end
	if is_single(sizer, columns, #counts) then
		columns = xcore.gather(KINDS[gct][1], addresses, sizer.fields)
		for i in ipairs(addresses) do counts[i] = 1 end
		firsts = addresses
	end
	for i, addr in ipairs(firsts) do sizes[i] = sizer.of(columns, i, addr) end
	return sizes, counts, firsts
end

-- The same for strings; objects of another type do not count.
local function tally_strings(vm, addresses)
	local sizer, sizes, strings, of = object.sizer(vm, layout.STRING), {}, {}, {}
	local columns, counts, firsts, freed = xcore.tally(
		"GCstr",
		addresses,
		{ "gct", table.unpack(sizer.fields) },
		{ partial = true }
	)
	for i, gct in ipairs(columns.gct) do
		if gct == layout.STRING then
			local place = #sizes + 1
			sizes[place], strings[place], of[place] = sizer.of(columns, i, firsts[i]), counts[i], firsts[i]
		else
			freed = freed + counts[i]
		end
	end
	tell_freed(vm, freed)
	return sizes, strings, of
end

-- Calls fn(gct, sizes, counts, firsts, addresses) for batches that contain all objects, each once: the number with
-- each size, the address of one such object, and all addresses. Costs a third of object.each.
function object.tally(vm, fn)
	local function give(gct, addresses)
		local sizes, counts, firsts = tally(vm, gct, addresses)
		fn(gct, sizes, counts, firsts, addresses)
	end
	if vm.t.live then require("luajit.still").freeze(vm) end
	from_list(vm, give)
	from_due(vm, give)
	from_open(vm, give)
	from_table(vm, {}, function(columns)
		local sizes, counts, firsts = tally_strings(vm, columns[1])
		fn(layout.STRING, sizes, counts, firsts, columns[1])
	end)
end

-- Bytes of one object.
function object.size(vm, addr)
	local gct = vm.t:value("GChead", addr).gct
	local sizer = object.sizer(vm, gct)
	local columns = {}
	local value = vm.t:value(KINDS[gct][1], addr)
	for _, name in ipairs(sizer.fields) do columns[name] = { value[name] } end
	return sizer.of(columns, 1, addr), gct
end

return object
