-- dead: slots of tables that take memory without a value: slots of the hash part whose value was removed (their keys
-- stay until a rehash, which only an insertion causes), and parts that are mostly empty.
local xcore = require "xcore"
local retention = require "lib.retention"
local commands = require "luajit.commands"
local graph = require "luajit.graph"
local label = require "luajit.label"
local layout = require "luajit.layout"
local object = require "luajit.object"
local still = require "luajit.still"

local dead = {}

local SHOWN, LONGEST = 20, 120
local SLOT, READ = 8, 1 << 20

local function new_count()
	return { tables = 0, nodes = 0, dead = 0, unused = 0, slots = 0, empty = 0, with_dead = 0 }
end

-- The part of a value that is all ones if it is nil (tvalue.lua): its offset and format.
local function nil_format(vm)
	if vm.layout.gc64 then return 0, "<i8" end
	return 4, "<i4"
end

-- Nodes without a value: with a key, and without.
local function count_nodes(vm, how, first, count)
	local stride, val, key, format, unpack = how.stride, how.val, how.key, how.format, string.unpack
	local gone, unused, at = 0, 0, 0
	while at < count do
		local n = math.min(count - at, READ // stride)
		local bytes = vm.t:read(first + at * stride, n * stride)
		for from = 0, (n - 1) * stride, stride do
			if unpack(format, bytes, from + val) == -1 then
				if unpack(format, bytes, from + key) == -1 then unused = unused + 1 else gone = gone + 1 end
			end
		end
		at = at + n
	end
	return gone, unused
end

-- Slots of an array part that are nil. Slot 0 always exists and is rarely used: it does not count.
local function count_slots(vm, how, first, count)
	local empty, at, format, unpack = 0, 1, how.format, string.unpack
	while at < count do
		local n = math.min(count - at, READ // SLOT)
		local bytes = vm.t:read(first + at * SLOT, n * SLOT)
		for from = how.skip + 1, #bytes, SLOT do
			if unpack(format, bytes, from) == -1 then empty = empty + 1 end
		end
		at = at + n
	end
	return empty
end

local function how_to_count(vm)
	local skip, format = nil_format(vm)
	return { skip = skip, format = format, stride = xcore.sizeof "Node", val = xcore.offsetof("Node", "val") + skip + 1,
		key = xcore.offsetof("Node", "key") + skip + 1 }
end

-- The collector frees garbage by itself, so garbage tables are not listed.
local function is_garbage(vm, addr)
	local g = graph.of(vm)
	return g:find(addr) and not g:retained(addr)
end

local function offer(vm, top, addr, weight, make)
	local least = top:least()
	if weight > 0 and (not least or weight > least) and not is_garbage(vm, addr) then top:add(weight, make()) end
end

local function look_at(vm, how, count, top, addr, node, nodes, array, slots)
	local gone, unused, empty, stride = 0, 0, 0, how.stride
	if nodes > 0 then gone, unused = count_nodes(vm, how, node, nodes) end
	if slots > 1 then empty = count_slots(vm, how, array, slots) end
	count.nodes, count.dead, count.unused = count.nodes + nodes, count.dead + gone, count.unused + unused
	count.slots, count.empty = count.slots + (slots > 0 and slots - 1 or 0), count.empty + empty
	if gone + unused + empty == 0 then return end
	if gone > 0 then count.with_dead = count.with_dead + 1 end
	offer(
		vm,
		top.dead,
		addr,
		gone,
		function() return { addr = addr, nodes = nodes, dead = gone, bytes = gone * stride } end
	)
	local wasted = (gone + unused) * stride + empty * SLOT
	if wasted * 2 < nodes * stride + slots * SLOT then return end
	offer(vm, top.empty, addr, wasted, function()
		return {
			addr = addr,
			nodes = nodes,
			used = nodes - gone - unused,
			slots = slots,
			filled = math.max(slots - 1, 0) - empty,
			bytes = wasted,
		}
	end)
end

local function wanted(L)
	return { [layout.TABLE] = { "array." .. L.mref, "node." .. L.mref, "asize", "hmask" } }
end

-- Counts all tables, and lists the `limit` reachable ones with the most dead keys and with the most empty space.
function dead.count(vm, limit)
	local how, count, top, L =
		how_to_count(vm), new_count(), { dead = xcore.top(limit), empty = xcore.top(limit) }, vm.layout
	object.each(vm, wanted(L), function(_, tables, columns)
		local array, node = columns["array." .. L.mref], columns["node." .. L.mref]
		for i, addr in ipairs(tables) do
			local hmask = columns.hmask[i]
			local ok, err = pcall(
				look_at,
				vm,
				how,
				count,
				top,
				addr,
				node[i],
				hmask > 0 and hmask + 1 or 0,
				array[i],
				columns.asize[i]
			)
			if not ok then
				vm:damaged(addr, "table: " .. tostring(type(err) == "table" and err.message or err))
			end
		end
		count.tables = count.tables + #tables
	end, layout.TABLE)
	return count, top.dead:items(), top.empty:items()
end

local function add_totals(section, count)
	local node = xcore.sizeof "Node"
	section:count("tables", count.tables)
	section:count("nodes", count.nodes, { label = "slots of hash parts" })
	section:count("dead", count.dead, { label = "with a dead key" })
	section:bytes("dead_bytes", count.dead * node, { label = "bytes of those" })
	section:count("tables_with_dead", count.with_dead, { label = "tables that have any" })
	section:count("unused", count.unused, { label = "never used" })
	section:bytes("unused_bytes", count.unused * node, { label = "bytes of those" })
	section:count("slots", count.slots, { label = "slots of array parts" })
	section:count("empty", count.empty, { label = "empty" })
	section:bytes("empty_bytes", count.empty * SLOT, { label = "bytes of those" })
end

local function path_of(vm, g, addr)
	local text = label.path(vm, g, addr)
	return text and retention.short(text, LONGEST) or "garbage"
end

local function add_tables(vm, section, with_dead, mostly_empty)
	if #with_dead == 0 and #mostly_empty == 0 then return end
	local g = graph.of(vm)
	local rows = section:table("most_dead", {
		{ "dead", "count", label = "DEAD KEYS" }, { "nodes", "count", label = "OF SLOTS" }, { "bytes", "bytes", label = "BYTES WASTED" },
		{ "address", "address" }, { "path", "text", secret = true },
	})
	for _, it in ipairs(with_dead) do
		rows:row(it.item.dead, it.item.nodes, it.item.bytes, it.item.addr, path_of(vm, g, it.item.addr))
	end
	rows = section:table("mostly_empty", {
		{ "bytes", "bytes", label = "BYTES EMPTY" }, { "used", "count", label = "KEYS" }, { "nodes", "count", label = "OF SLOTS" },
		{ "filled", "count", label = "ELEMENTS" }, { "slots", "count", label = "OF SLOTS " }, { "address", "address" },
		{ "path", "text", secret = true },
	})
	for _, it in ipairs(mostly_empty) do
		local one = it.item
		rows:row(one.bytes, one.used, one.nodes, one.filled, one.slots, one.addr, path_of(vm, g, one.addr))
	end
end

-- luajit.dead [--limit N]
function dead.run(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" })
	local section = report:section("dead", "Dead keys and empty tables")
	local count, with_dead, mostly_empty = still.run(
		vm,
		function() return dead.count(vm, math.max(options.limit or SHOWN, 1)) end
	)
	add_totals(section, count)
	add_tables(vm, section, with_dead, mostly_empty)
	section:note("a table frees dead keys when it is rehashed: when a key is added and no slot is free",
		"a cache that shrank: fill a new table, or table.clear and fill it again")
	section:note "tables that are garbage are counted but not listed"
	vm:tell(section)
end

return dead
