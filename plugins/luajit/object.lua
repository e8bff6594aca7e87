-- GC objects: what each takes of g.gc.total, and all of them, in batches of columns.
--
-- Sizes are those that LuaJIT gives back when it frees an object (lj_str.c, lj_tab.c, lj_func.c, lj_cdata.c, lj_trace.c, lj_udata.c, lj_state.c).
local xcore = require "xcore"
local layout = require "luajit.layout"

local object = {}

local BATCH = 65536

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

-- Attributes do not count: the type behind them does (ctype_raw). What has no size is a pointer: functions, externs.
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
	end
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

-- The struct that a GC type's objects are.
function object.struct(gct)
	return KINDS[gct] and KINDS[gct][1]
end

-- How to size objects of a type: the members to read, and a function of those columns, a row and the object's address.
function object.sizer(vm, gct)
	vm.sizers = vm.sizers or {}
	local sizer = vm.sizers[gct]
	if not sizer then
		local fields, of = KINDS[gct][2](vm)
		sizer = { fields = fields, of = of }
		vm.sizers[gct] = sizer
	end
	return sizer
end

-- ---- all objects ----

-- Hand a batch of objects of one type on: their addresses, and columns of the members that sizing needs and of those the caller wants.
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
	local by_type = {}
	for i, addr in ipairs(addresses) do
		local kind = gct[i]
		local list = by_type[kind]
		if not list then
			list = {}
			by_type[kind] = list
		end
		list[#list + 1] = addr
	end
	for kind, list in pairs(by_type) do
		local wrong = not KINDS[kind] and ("gct %d is no type of object"):format(kind)
			or kind == layout.CDATA and not vm.ctypes and "an object of the FFI, which was not loaded"
		if wrong then vm:damaged(list[1], wrong) end
		if wrong or only and kind ~= only then by_type[kind] = nil end
	end
	return by_type
end

-- The list of g.gc.root, a batch at a time, sorted by type; of the type `only`, if it is given. Each batch is told from an older one, which
-- is changed after 1, 2, 4, ... of them (as Brent does): so a list that has become a ring ends.
function object.from_list(vm, wanted, fn, only)
	local next, head, old, batches, turn = vm.layout.next, vm.g.gc.root[vm.layout.ref], nil, 0, 1
	while head ~= 0 do
		local columns, count, why = xcore.follow(vm.t:value("GChead", head), next, { "gct" },
			{ addresses = true, partial = true, max = BATCH, stop = old })
		for kind, addresses in pairs(sort(vm, columns[1], columns.gct, only)) do hand(vm, kind, addresses, wanted, fn) end
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
			return vm:damaged(last, "the list of objects leads back to one that it had: a ring")
		end
	end
end

-- More strings than this are damage: chains that lead through memory that is used for something else.
function object.most_strings(vm)
	return 2 * (vm.layout.interned and vm.g.str.num or vm.g.strnum) + BATCH
end

local function anchors(vm)
	local interned = vm.layout.interned and vm.g.str
	local tab, mask = interned and interned.tab or vm.g.strhash, interned and interned.mask or vm.g.strmask
	return xcore.columns(tab, mask + 1, { vm.layout.ref })[vm.layout.ref], mask
end

-- What hangs in the table is strings, unless it was freed. Returns the columns of those that are, and how many are not.
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

-- Anchors of the interning table, whose lowest bit tells that a chain has a second hash, and its mask. A running VM that got a larger
-- table meanwhile has freed the one whose address was read before: it is looked up anew.
function object.anchors(vm)
	local ok, list, mask = pcall(anchors, vm)
	if not ok and vm.t.live then ok, list, mask = pcall(xcore.retry, function() return anchors(vm) end) end
	if ok then return list, mask end
	if type(list) == "table" and list.kind == "limit" then error(list, 0) end
	vm:damaged(0, "string table: " .. tostring(type(list) == "table" and list.message or list))
	return {}, 0
end

local function from_strings(vm, wanted, fn)
	local anchors = object.anchors(vm)
	local fields = { "gct", table.unpack(object.sizer(vm, layout.STRING).fields) }
	for _, name in ipairs(wanted and wanted[layout.STRING] or {}) do fields[#fields + 1] = name end
	for from = 1, #anchors, BATCH do
		local heads = table.move(anchors, from, math.min(from + BATCH - 1, #anchors), 1, {})
		local columns, _, why, levels = xcore.chains("GCstr", heads, vm.layout.next, fields,
			{ mask = ~1, addresses = true, partial = true, max = object.most_strings(vm) })
		if why then vm:damaged(0, "string table: " .. why) end
		local strings, freed = only_strings(columns, fields)
		if freed > 0 then vm:damaged(0, ("string table: %d of its objects are no strings: freed, or overwritten"):format(freed)) end
		if #strings[1] > 0 then fn(layout.STRING, strings[1], strings, levels) end
	end
end

-- Userdata and cdata whose finalizers are due hang in a ring of their own.
local function from_due(vm, wanted, fn)
	local last = vm.g.gc.mmudata[vm.layout.ref]
	if last == 0 then return end
	local due = xcore.follow(vm.t:value("GChead", last), vm.layout.next, { "gct" }, { addresses = true, partial = true })
	for i, addr in ipairs(due[1]) do
		if KINDS[due.gct[i]] then hand(vm, due.gct[i], { addr }, wanted, fn) end
	end
end

-- Upvalues that are open hang in a ring through the state (and in lists of their threads), until they are closed.
local function from_open(vm, wanted, fn)
	local ring, ref = vm.g.uvhead, vm.layout.ref
	local head = xcore.addr(ring)
	local first = ring.next[ref]
	if first == 0 or first == head then return end
	local open, _, why = xcore.follow(vm.t:value("GCupval", first), "next." .. ref, {}, { stop = head, partial = true })
	if why then vm:damaged(first, "open upvalues: " .. why) end
	hand(vm, layout.UPVALUE, open[1], wanted, fn)
end

-- Call fn(gct, addresses, columns) for batches that hold all objects of the VM, each once. `wanted[gct]` names members
-- that the columns are to have beside those of object.sizer. (columns[1] may be there or not.)
function object.each(vm, wanted, fn)
	if vm.t.live then require("luajit.still").freeze(vm) end
	object.from_list(vm, wanted, fn)
	from_due(vm, wanted, fn)
	from_open(vm, wanted, fn)
	from_strings(vm, wanted, fn)
end

-- Bytes of the objects of a batch, as a column.
function object.sizes(vm, gct, addresses, columns)
	local of, sizes = object.sizer(vm, gct).of, {}
	for i, addr in ipairs(addresses) do sizes[i] = of(columns, i, addr) end
	return sizes
end

-- Bytes of one.
function object.size(vm, addr)
	local gct = vm.t:value("GChead", addr).gct
	local sizer = object.sizer(vm, gct)
	local columns = {}
	local value = vm.t:value(KINDS[gct][1], addr)
	for _, name in ipairs(sizer.fields) do columns[name] = { value[name] } end
	return sizer.of(columns, 1, addr), gct
end

return object
