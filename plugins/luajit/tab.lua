-- tab: the entries of a table, with nested tables, as rows.
local xcore = require "xcore"
local damage = require "lib.damage"
local label = require "luajit.label"
local layout = require "luajit.layout"
local object = require "luajit.object"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"
local value = require "luajit.value"

local tab = {}

local SORTED = 20000 -- a table with more nodes is shown in memory order
local LONGEST_KEY = 80

tab.COLUMNS = {
	{ "key", "text", secret = true }, { "type", "text" }, { "value", "text", secret = true }, { "at", "address", verbose = true },
}

-- Text of a key, given as 64 bits; its order: numbers by value, then texts.
local function key_of(vm, bits)
	local tag, payload = tvalue.decode(vm, bits)
	if tag == layout.INTEGER then return ("[%s]"):format(value.number(payload)), payload end
	return label.key(vm, bits, LONGEST_KEY), nil
end

local function before(a, b)
	if (a.number ~= nil) ~= (b.number ~= nil) then return a.number ~= nil end
	if a.number and a.number ~= b.number then return a.number < b.number end
	if a.key ~= b.key then return a.key < b.key end
	return a.at < b.at
end

-- Entries of a table: { key, number, bits, at }. At most `most` of a table with too many nodes to sort.
function tab.entries(vm, addr, most)
	local one, list = tables.at(vm, addr), {}
	local sort = one.hash <= SORTED
	one:each(function(key, bits, at, array)
		local entry = { bits = bits, at = at }
		if array then
			entry.key, entry.number = ("[%d]"):format(key), key
		else
			entry.key, entry.number = key_of(vm, key)
		end
		list[#list + 1] = entry
		return #list >= most and (array or not sort)
	end)
	if sort then table.sort(list, before) end
	return list
end

-- Adds a table's entries to rows, and those of nested tables to `depth`. Returns the number of omitted ones.
local function add(vm, rows, addr, prefix, depth, state)
	if state.inside[addr] then return end
	state.inside[addr] = true
	for _, entry in ipairs(tab.entries(vm, addr, state.left + 1)) do
		if state.left <= 0 then
			state.cut = true
			break
		end
		state.left = state.left - 1
		local tag, payload = tvalue.decode(vm, entry.bits)
		rows:row(prefix .. entry.key, layout.NAMES[tag], value.show(vm, entry.bits, state.width), entry.at)
		if tag == layout.TABLE and depth > 1 then
			local ok, err = pcall(add, vm, rows, payload, prefix .. entry.key, depth - 1, state)
			if not ok then vm:damaged(payload, damage.message(err)) end
		end
	end
	state.inside[addr] = nil
end

-- The properties of a table, as fields of a section.
function tab.describe(vm, section, addr)
	local one = tables.at(vm, addr)
	local in_array, in_hash = one:count()
	section:count("items", in_array + in_hash)
	section:count("array_items", in_array, { label = "in the array part" })
	section:count("array_slots", one.asize, { label = "of its slots" })
	section:count("hash_items", in_hash, { label = "in the hash part" })
	section:count("hash_slots", one.hash, { label = "of its nodes" })
	section:bytes("size", (object.size(vm, addr)))
	if one.metatable ~= 0 then section:text("metatable", require("luajit.metatables").name(vm, one.metatable)) end
end

-- Adds its entries: at most `limit`, nested tables to `depth`.
function tab.fill(vm, section, addr, limit, depth, width)
	local rows = section:table("entries", tab.COLUMNS)
	local state = { left = limit, inside = {}, width = width or 60 }
	add(vm, rows, addr, "", depth, state)
	if state.cut then section:note(("only %d entries are shown"):format(limit), "--limit N shows more") end
end

return tab
