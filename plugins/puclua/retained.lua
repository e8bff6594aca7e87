-- retained, path and the flame graphs: large objects, their holders, and the memory that would be freed with them.
local xcore = require "xcore"
local commands = require "puclua.commands"
local graph = require "puclua.graph"
local label = require "puclua.label"
local layout = require "puclua.layout"
local retention = require "lib.retention"
local tab = require "puclua.tab"
local value = require "puclua.value"
local vm_of = require "puclua.vm"

local retained = {}

local SHOWN, LONGEST = 20, 140

local KINDS = {}
for _, name in ipairs(layout.KINDS) do KINDS[name] = true end

local function path_text(vm, g, addr)
	local text = label.path(vm, g, addr)
	return text and retention.short(text, LONGEST) or "garbage: no root reaches it"
end

local function described(vm, g, addr)
	local _, _, kind = g:find(addr)
	if kind == "upvalue" then return "upvalue" end
	local ok, text = pcall(value.describe, vm, addr, 40)
	return ok and text or nil
end

local function kind_argument(text)
	if text and not KINDS[text] then
		error(xcore.error("usage", "no such type: " .. text, "types are " .. table.concat(layout.KINDS, ", ")))
	end
	return text
end

-- ---- retained ----

local BY = {}

function BY.object(vm, g, section, options)
	local limit = options.limit or SHOWN
	local list = g:top { by = "retained", kind = options.kind, limit = limit + 1 }
	retention.objects(
		section,
		list,
		limit,
		options.reached,
		function(addr) return path_text(vm, g, addr) end,
		"puclua.path"
	)
end

function BY.kind(_, g, section)
	retention.kinds(section, g)
end

function BY.root(_, g, section, options)
	retention.roots(section, g:roots(), options.reached)
end

-- puclua.retained [--by object|kind|root] [--limit N] [TYPE]
function retained.run(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number", by = "text" }, 1)
	local by = options.by or "object"
	if not BY[by] then error(xcore.error("usage", "--by: unknown order: " .. by, "object, kind or root")) end
	options.kind = kind_argument(options[1])
	local g, made = graph.of(vm)
	local section = report:section("retained", "What keeps memory of Lua alive")
	options.reached = retention.totals(section, g, made.bytes)
	BY[by](vm, g, section, options)
	graph.tell(vm, report)
end

-- ---- path ----

local function add_holders(vm, g, section, addr)
	retention.holders(section, g, addr, function(holder, kind) return label.of(vm, holder, addr, kind) end,
		function(holder) return path_text(vm, g, holder) end)
end

local function add_one(vm, g, section, wanted)
	local addr = g:find(wanted)
	if not addr then error(xcore.error("not_found", xcore.hex(wanted) .. " is in no object of the state")) end
	retention.object(section, g, addr, function(one) return described(vm, g, one) end, label.path(vm, g, addr))
	add_holders(vm, g, section, addr)
end

local function add_biggest(vm, g, section, options)
	local limit = options.limit or SHOWN
	local rows = section:table("objects", {
		{ "size", "bytes" }, { "type", "text" }, { "address", "address" }, { "path", "text", secret = true },
	})
	for _, it in ipairs(g:top { by = "size", kind = options.kind, limit = limit }) do
		if it.size < (options.min or 0) then break end
		rows:row(it.size, it.kind, it.addr, path_text(vm, g, it.addr))
	end
	section:bytes("garbage", retention.garbage(g), { label = "no root reaches" })
end

-- puclua.path [--min BYTES] [--limit N] [TYPE|ADDR]
function retained.path(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number", min = "number" }, 1)
	local addr = math.tointeger(tonumber(options[1] or ""))
	if not addr then options.kind = kind_argument(options[1]) end
	local g = graph.of(vm)
	if addr then
		add_one(vm, g, report:section("path", "Path to an object"), addr)
	else
		add_biggest(vm, g, report:section("paths", "Paths to the largest objects"), options)
	end
	graph.tell(vm, report)
end

-- ---- flame graphs ----

local MOST_KEYS = 512 -- nodes of a table whose keys are distinguished

-- A function that names an entry of a table with few reads: there may be millions.
local function namer_of_tables(vm)
	local t, L, last, nodes = vm.t, vm.layout, nil, 0
	local node_at, metatable_at = xcore.offsetof("Table", "node"), xcore.offsetof("Table", "metatable")
	local size_at, pack, names = xcore.offsetof("Table", "lsizenode"), string.pack, {}
	local function name_of(key_at, tt_at)
		local key = t:u64(key_at)
		local name = names[key]
		if not name then
			name = tab.key(vm, { at = key_at, tt = tt_at })
			if not name:find "^%." then name = "[*]" end
			names[key] = name
		end
		return name
	end
	return function(above, addr)
		if above ~= last then
			last, nodes = above, 1 << (t:u8(above + size_at) & 31)
		end
		if t:ptr(above + metatable_at) == addr then return "metatable" end
		if nodes > MOST_KEYS then return "[*]" end
		local node = t:ptr(above + node_at)
		local bytes, word, from = t:read(node, nodes * L.node_size), pack("<i8", addr), 1
		while true do
			local at = bytes:find(word, from, true)
			if not at then return "[*]" end
			local place = (at - 1) % L.node_size
			local first = node + at - 1 - place
			if place == L.node_value then return name_of(first + L.key_value, first + L.key_tt) end
			if place == L.key_value then return "(key)" end
			from = at + 1
		end
	end
end

local function namer(vm, g)
	local in_table, upvalue, tt_at =
		namer_of_tables(vm), vm.layout.names[vm.layout.upvalue] and vm.layout.upvalue, vm.tt_at
	return function(addr, kind, above)
		if not above then return nil end
		local of
		if upvalue then of = vm.t:u8(above + tt_at) & 0xf else
			local _, _, name = g:find(above)
			of = name == "table" and layout.TABLE or name
		end
		if of == layout.TABLE then
			local ok, name = pcall(in_table, above, addr)
			return ok and kind .. " " .. name or nil
		end
		if of == upvalue or of == "upvalue" then return nil end
		local name = label.of(vm, above, addr, nil)
		if name == "?" or name == "" or name == kind then return nil end
		return kind == "upvalue" and name or kind .. " " .. name
	end
end

local function fill(t, tree, by)
	local vm = vm_of.one(t)
	local g = graph.of(vm)
	g:fill(tree, { by = by, name = namer(vm, g) })
end

function retained.paths(t, tree) fill(t, tree, "path") end
function retained.dominators(t, tree) fill(t, tree, "dominator") end

return retained
