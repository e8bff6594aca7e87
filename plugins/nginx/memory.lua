-- memory.lua: one table of all mapped memory: each byte is in one row, and unexplained bytes have a row of their own.
--
-- Mappings are cut along known ranges (LuaJIT's segments, large blocks and machine code, zones of shared memory,
-- malloc areas); the rest of a mapping is classified by its kind. malloc memory is divided further: pools, other
-- known nginx data, and the rest.
--
-- A large block of lj_alloc is a separate mapping, a multiple of the page size (lj_alloc.c, 2.1):
--
--	| 1 + offset into the mapping (0) | size, bit 1: in use | block … | size of a fencepost: 11 | 0 |
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local pools = require "nginx.pools"
local slab = require "nginx.slab"
local zones = require "nginx.zones"

local memory = {}

local DIRECT, IN_USE, FENCEPOST, FOOT = 1, 2, 11, 32
local MOST_AREAS = 100000
local LEAST_DIRECT = 65536

-- ---- ranges ----

local function add(ledger, lo, bytes, key)
	if lo and lo ~= 0 and bytes and bytes > 0 then ledger.ranges[#ledger.ranges + 1] = { lo = lo, hi = lo + bytes - 1, key = key } end
end

local function count(ledger, key, bytes)
	if bytes ~= 0 then ledger.bytes[key] = (ledger.bytes[key] or 0) + bytes end
end

-- Resident bytes of a piece; pages shared by all processes count as 0.
local function keep(t, ledger, key, lo, bytes, sign)
	if not t.live or key == "reserved" or key == "kernel" then return end
	local resident = damage.try(t.resident, t, lo, bytes)
	if not resident then
		ledger.untold = true
	elseif resident > 0 then
		ledger.resident[key] = (ledger.resident[key] or 0) + (sign or 1) * resident
	end
end

-- Ranges in order, without those that begin within another.
local function settle(ledger)
	local list, last = {}, -1
	table.sort(ledger.ranges, function(a, b)
		if a.lo ~= b.lo then return math.ult(a.lo, b.lo) end
		return math.ult(b.hi, a.hi)
	end)
	for _, range in ipairs(ledger.ranges) do
		if last == -1 or math.ult(last, range.lo) then
			list[#list + 1], last = range, range.hi
		end
	end
	ledger.ranges = list
end

-- ---- LuaJIT ----

-- The LuaJIT plugin, if it is installed: { vm, arena }.
local function luajit()
	local done, vm = pcall(require, "luajit.vm")
	local also, arena = pcall(require, "luajit.arena")
	if done and also then return { vm = vm, arena = arena } end
end

-- Areas of machine code are chained: each begins with the address of the previous one and its own size.
local function machine_code(t, ledger, one)
	local J = one.J
	local at = J and J.mcarea and xcore.addr(J.mcarea) or 0
	for _ = 1, MOST_AREAS do
		if at == 0 then return end
		local size = t:u64(at + t.pointer_size)
		add(ledger, at, size, "lua_code")
		at = t:ptr(at)
	end
end

local function of_vm(t, ledger, plugin, one)
	local own = plugin.arena.of(one)
	count(ledger, "lua_total", one.g.gc.total)
	if own then
		ledger.arenas = true
		for _, segment in ipairs(own.segments) do add(ledger, segment.base, segment.size, "lua") end
	else
		ledger.lua_in_malloc = (ledger.lua_in_malloc or 0) + one.g.gc.total
	end
	damage.try(machine_code, t, ledger, one)
end

local function of_luajit(t, ledger)
	local plugin = luajit()
	if not plugin then return end
	for _, one in ipairs(plugin.vm.all(t)) do
		ledger.vms = ledger.vms + 1
		local done, why = damage.try(function()
			of_vm(t, ledger, plugin, one)
			return true
		end)
		if not done then ledger.why[#ledger.why + 1] = "a Lua VM: " .. why end
	end
end

-- The bytes of the mapping of a large lj_alloc block at an address; nil if there is none.
local function direct_at(t, at, most)
	local head = t:u64(at + 8)
	local size = head & ~7
	if head & 7 ~= IN_USE or size < LEAST_DIRECT or size > most - FOOT then return nil end
	if t:u64(at + size + 8) == FENCEPOST and t:u64(at + size + 16) == 0 then return size + FOOT end
end

-- Large blocks in the uncovered parts of an anonymous mapping.
local function directs(t, ledger, lo, hi)
	local mark = ("<I8"):pack(DIRECT)
	local first = lo + slab.page_size(t) - 1 & -slab.page_size(t)
	local past = 0
	for at in t:find { bytes = mark, within = { { lo, hi } }, align = slab.page_size(t) } do
		if at >= first and at >= past then
			local bytes = damage.try(direct_at, t, at, hi - at + 1)
			if bytes then
				count(ledger, "lua", bytes)
				keep(t, ledger, "lua", at, bytes)
				keep(t, ledger, "unaccounted", at, bytes, -1)
				past = at + bytes
			end
		end
	end
end

-- ---- mappings ----

local function stack_pointers(t)
	local list = {}
	for _, thread in ipairs(t:threads()) do
		local registers = damage.try(thread.registers, thread) or {}
		list[#list + 1] = registers.rsp or registers.sp
	end
	return list
end

local function is_stack(ledger, map)
	if map.label and map.label:find "^%[stack" then return true end
	for _, sp in ipairs(ledger.stacks) do
		if not math.ult(sp, map.lo) and not math.ult(map.hi, sp) then return true end
	end
end

local function kind_of(t, ledger, map)
	if not map.readable and not map.writable and not map.executable then return "reserved" end
	if is_stack(ledger, map) then return "stacks" end
	if map.path and map.path:find "^/dev/zero" or map.shared and map.writable then return "shared" end
	if t:module(map.lo) then return map.writable and "module_data" or "module_code" end
	if map.path then return "files" end
	if map.label then return "kernel" end
	return "unaccounted"
end

-- The part without a range, from lo to hi.
local function rest(t, ledger, kind, lo, hi)
	local before = ledger.bytes.lua or 0
	if kind == "unaccounted" and ledger.arenas then damage.try(directs, t, ledger, lo, hi) end
	count(ledger, kind, hi - lo + 1 - ((ledger.bytes.lua or 0) - before))
	keep(t, ledger, kind, lo, hi - lo + 1)
end

-- Both lists are in order: `next` is the first range that does not end before the mapping.
local function cut(t, ledger, map, next)
	local kind, at = kind_of(t, ledger, map), map.lo
	while ledger.ranges[next] and math.ult(ledger.ranges[next].hi, map.lo) do next = next + 1 end
	local i = next
	while ledger.ranges[i] and not math.ult(map.hi, ledger.ranges[i].lo) do
		local range = ledger.ranges[i]
		local lo, hi = math.ult(range.lo, at) and at or range.lo, math.ult(map.hi, range.hi) and map.hi or range.hi
		if lo > at then rest(t, ledger, kind, at, lo - 1) end
		count(ledger, range.key, hi - lo + 1)
		keep(t, ledger, range.key, lo, hi - lo + 1)
		at, i = hi + 1, i + 1
	end
	if at <= map.hi then rest(t, ledger, kind, at, map.hi) end
	return next
end

-- ---- malloc ----

-- malloc blocks that are known nginx arrays.
local function arrays(t, heap)
	local of, bytes = cycle.of(t), 0
	for _, name in ipairs { "connections", "read_events", "write_events", "files" } do
		local at = maybe.addr(of, name)
		local block = at and at ~= 0 and heap:at(at)
		if block then bytes = bytes + block.size end
	end
	return bytes
end

local function divide_malloc(t, ledger, options)
	local heap = t:heap()
	local totals, all = heap:totals(), pools.all(t, options)
	ledger.pools = all
	local left = totals.live.bytes
	local function take(key, bytes)
		local taken = math.min(bytes, left)
		count(ledger, key, taken)
		left = left - taken
	end
	for _, one in ipairs(all) do take("pool " .. one.kind, one.total) end
	take("arrays", damage.try(arrays, t, heap) or 0)
	take("lua_malloc", ledger.lua_in_malloc or 0)
	count(ledger, "malloc_other", left)
	count(ledger, "malloc_free", totals.free.bytes)
	count(ledger, "malloc_unknown", totals.unknown.bytes)
	local blocks = totals.live.bytes + totals.free.bytes + totals.unknown.bytes
	count(ledger, "malloc_overhead", math.max(0, (ledger.bytes.malloc or 0) - blocks))
	ledger.bytes.malloc = nil
end

-- LuaJIT's memory: objects and buffers as counted by the collector; the rest belongs to its allocator.
local function divide_lua(ledger)
	local all, total = ledger.bytes.lua, ledger.bytes.lua_total
	ledger.bytes.lua_total = nil
	if not all then return end
	ledger.bytes.lua = nil
	count(ledger, "lua_objects", math.min(all, total - (ledger.lua_in_malloc or 0)))
	count(ledger, "lua_allocator", all - (ledger.bytes.lua_objects or 0))
end

-- The table: { bytes by key, resident (of a running process, by the keys of ranges: "malloc", "lua", …), mapped,
-- zones (by key), pools, vms, why (the parts that could not be read) }. Keys: "zone NAME", "pool KIND", and those of
-- memory.LABELS. Options as in pools.all.
function memory.ledger(t, options)
	local ledger = { ranges = {}, bytes = {}, resident = {}, mapped = 0, vms = 0, zones = {}, why = {}, stacks = stack_pointers(t) }
	for _, zone in ipairs(damage.try(zones.all, t) or {}) do
		local key = "zone " .. zone.name
		ledger.zones[key] = zone
		add(ledger, zone.addr, zone.size, key)
	end
	local done, why = damage.try(function()
		of_luajit(t, ledger)
		return true
	end)
	if not done then ledger.why[#ledger.why + 1] = "LuaJIT: " .. why end
	for _, region in ipairs(t:heap():regions()) do add(ledger, region.lo, region.hi - region.lo + 1, "malloc") end
	settle(ledger)
	local next = 1
	for _, map in ipairs(t:maps()) do
		ledger.mapped = ledger.mapped + map.hi - map.lo + 1
		next = cut(t, ledger, map, next)
	end
	divide_lua(ledger)
	divide_malloc(t, ledger, options)
	return ledger
end

memory.LABELS = {
	{ "lua_objects", "Lua: objects and buffers" }, { "lua_allocator", "Lua: its allocator's free and overhead" },
	{ "lua_code", "Lua: machine code" }, { "lua_malloc", "Lua: objects, from malloc" }, { "pool" }, { "arrays", "nginx: connections and events" },
	{ "malloc_other", "malloc: other live blocks" }, { "malloc_free", "malloc: free" }, { "malloc_unknown", "malloc: damaged" },
	{ "malloc_overhead", "malloc: headers, padding, never used" }, { "zone" }, { "shared", "shared memory, other" }, { "stacks", "stacks" },
	{ "module_data", "modules: data" }, { "module_code", "modules: code and constants" }, { "files", "mapped files" },
	{ "kernel", "the kernel's (vdso)" }, { "reserved", "reserved, without access" }, { "unaccounted", "unaccounted" },
}

local GROUPS = {
	{ "lua", "Lua" }, { "pool", "pools of nginx" }, { "arrays", "nginx: connections and events" }, { "malloc", "malloc: the rest" },
	{ "zone", "shared zones" }, { "shared", "shared memory, other" }, { "stacks", "stacks" }, { "module", "modules" }, { "files", "mapped files" },
	{ "kernel", "the kernel's (vdso)" }, { "reserved", "reserved, without access" }, { "unaccounted", "unaccounted" },
}

-- The same in a few rows: { key, label, bytes }.
function memory.groups(ledger)
	local rows = {}
	for _, group in ipairs(GROUPS) do
		local bytes = 0
		for key, one in pairs(ledger.bytes) do
			if key:match "^%a+" == group[1] then bytes = bytes + one end
		end
		if bytes ~= 0 then rows[#rows + 1] = { key = group[1], label = group[2], bytes = bytes } end
	end
	return rows
end

local function prefixed(ledger, prefix)
	local keys = {}
	for key in pairs(ledger.bytes) do
		if key:sub(1, #prefix + 1) == prefix .. " " then keys[#keys + 1] = key end
	end
	table.sort(keys, function(a, b)
		if ledger.bytes[a] ~= ledger.bytes[b] then return ledger.bytes[a] > ledger.bytes[b] end
		return a < b
	end)
	return keys
end

local function label_of(ledger, prefix, key)
	local name = key:sub(#prefix + 2)
	if prefix == "pool" then return "pools: " .. name end
	return ("shared: %s (%s)"):format(name, ledger.zones[key].kind)
end

-- The rows of the table in order: { key, label, bytes }.
function memory.rows(ledger)
	local rows = {}
	for _, entry in ipairs(memory.LABELS) do
		local key, label = entry[1], entry[2]
		for _, one in ipairs(label and { key } or prefixed(ledger, key)) do
			local bytes = ledger.bytes[one]
			if bytes then rows[#rows + 1] = { key = one, label = label or label_of(ledger, key, one), bytes = bytes } end
		end
	end
	return rows
end

local RESIDENT = {
	{ "lua", "Lua: all but machine code" }, { "lua_code", "Lua: machine code" }, { "malloc", "malloc, with pools" }, { "zone" },
	{ "shared", "shared memory, other" }, { "stacks", "stacks" }, { "module_data", "modules: data" },
	{ "module_code", "modules: code and constants" }, { "files", "mapped files" }, { "unaccounted", "unaccounted" },
}

-- The resident memory of a running process: rows of { key, label, bytes }, and their sum, the RSS; nil if the kernel
-- does not report it.
function memory.resident(ledger)
	local rows, sum = {}, 0
	if ledger.untold or next(ledger.resident) == nil then return nil end
	local kept = { bytes = ledger.resident, zones = ledger.zones }
	for _, entry in ipairs(RESIDENT) do
		local key, label = entry[1], entry[2]
		for _, one in ipairs(label and { key } or prefixed(kept, key)) do
			local bytes = ledger.resident[one] or 0
			if bytes ~= 0 then rows[#rows + 1] = { key = one, label = label or label_of(kept, key, one), bytes = bytes } end
			sum = sum + bytes
		end
	end
	return rows, sum
end

return memory
