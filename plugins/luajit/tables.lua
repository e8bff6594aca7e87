-- tables: the contents of a Lua table (lj_tab.c): values from 0 in the array part, and the nodes of the hash part.
--
--	GCtab.array  [0] [1] … [asize - 1]       values; slot 0 is Lua's t[0]
--	GCtab.node   { val, key, next } × (hmask + 1); an empty one keeps its old key, and hmask 0 is no hash part at all
local xcore = require "xcore"
local layout = require "luajit.layout"
local tvalue = require "luajit.tvalue"

local tables = {}
local Table = {}
Table.__index = Table

local BATCH, MOST = 65536, 1 << 28
local NODE = { "val.u64", "key.u64" }
local LONGEST_CHAIN = 16 -- of __index

local function sane(tab, addr)
	local hash = tab.hmask > 0 and tab.hmask + 1 or 0
	if tab.gct ~= layout.TABLE then error(xcore.error("format", xcore.hex(addr) .. " is not a table")) end
	if tab.asize > MOST or hash > MOST or hash & (hash - 1) ~= 0 then
		error(xcore.error("format",
			("table %s: impossible sizes (array %d, hash %d)"):format(xcore.hex(addr), tab.asize, hash)))
	end
	return hash
end

-- The table at an address; raises format if there is none.
function tables.at(vm, addr)
	local tab = vm.t:value("GCtab", addr)
	return setmetatable({
		vm = vm, addr = addr, hash = sane(tab, addr), asize = tab.asize, metatable = tab.metatable[vm.layout.ref],
		array = tab.array[vm.layout.mref], node = tab.node[vm.layout.mref],
	}, Table)
end

-- A column of `count` values of the array part from slot `from`.
function Table:slots(from, count)
	if count <= 0 then return {} end
	local first = xcore.cast(self.array + from * 8,
		"TValue *") or error(xcore.error("fault", "a table's array has a null address"))
	return xcore.columns(first, count, { "u64" }).u64
end

-- Columns of values and keys of nodes.
function Table:nodes(from, count)
	if count <= 0 then return {}, {} end
	local stride = xcore.sizeof "Node"
	local first = xcore.cast(self.node + from * stride,
		"Node *") or error(xcore.error("fault", "a table's nodes have a null address"))
	local columns = xcore.columns(first, count, NODE)
	return columns[NODE[1]], columns[NODE[2]]
end

local function is_nil(vm, bits)
	return bits == -1 or not vm.layout.gc64 and bits >> 32 == 0xffffffff
end

-- Calls fn(key, value, at) for non-nil values, in memory order: 64 bits each, an integer key for the array part (then
-- `array` is true), and the address of the value. Ends when fn returns true.
function Table:each(fn)
	local vm, stride = self.vm, xcore.sizeof "Node"
	for from = 0, self.asize - 1, BATCH do
		for i, bits in ipairs(self:slots(from, math.min(BATCH, self.asize - from))) do
			if not is_nil(vm, bits) and fn(from + i - 1, bits, self.array + (from + i - 1) * 8, true) then return end
		end
	end
	for from = 0, self.hash - 1, BATCH do
		local values, keys = self:nodes(from, math.min(BATCH, self.hash - from))
		for i, bits in ipairs(values) do
			if not is_nil(vm, bits) and fn(keys[i], bits, self.node + (from + i - 1) * stride, false) then return end
		end
	end
end

-- The number of non-nil values: in the array part, in the hash part.
function Table:count()
	local in_array, in_hash = 0, 0
	self:each(function(_, _, _, array)
		if array then in_array = in_array + 1 else in_hash = in_hash + 1 end
	end)
	return in_array, in_hash
end

-- ---- by key ----

local function is_string(vm, bits, text)
	local tag, addr = tvalue.decode(vm, bits)
	if tag ~= layout.STRING then return false end
	local str = vm.t:value("GCstr", addr)
	return str.len == #text and vm:string(addr) == text
end

local function matches(vm, key, bits)
	if key.text then return is_string(vm, bits, key.text) end
	local tag, payload = tvalue.decode(vm, bits)
	if key.number then return tag == layout.INTEGER and payload == key.number end
	if key.symbol then return tag == 3 and xcore.symbol(payload) == key.symbol end
	if key.light then return tag == 3 and payload == key.light end
	if key.object then return tag >= layout.STRING and tag <= layout.USERDATA and payload == key.object end
	return tag == (key.boolean and 2 or 1)
end

-- The value under a key, { text = "x" }, { number = 3 }, { boolean = true }, { light = address of a light userdatum
-- }, { symbol = its symbol } or { object = address }: its 64 bits and its address; nil if there is none.
function Table:get(key)
	local slot = key.number and math.tointeger(key.number)
	if slot and slot >= 0 and slot < self.asize then
		local bits = self.vm.t:u64(self.array + slot * 8)
		if is_nil(self.vm, bits) then return nil end
		return bits, self.array + slot * 8
	end
	local found, where
	self:each(function(bits, value, at, array)
		if array then return false end
		local ok, same = pcall(matches, self.vm, key, bits)
		if ok and same then found, where = value, at end
		return found ~= nil
	end)
	return found, where
end

-- The metatable of a table or userdatum; nil without one.
function tables.metatable(vm, tag, addr)
	local struct = tag == layout.TABLE and "GCtab" or tag == layout.USERDATA and "GCudata"
	local found = struct and vm.t:value(struct, addr).metatable[vm.layout.ref] or 0
	return found ~= 0 and tables.at(vm, found) or nil
end

-- The value under a text, if it is a table; nil otherwise.
function Table:table(text)
	local bits = self:get { text = text }
	if not bits then return nil end
	local tag, addr = tvalue.decode(self.vm, bits)
	return tag == layout.TABLE and tables.at(self.vm, addr) or nil
end

-- The result of indexing in Lua if each __index is a table; also the number of metatables visited.
function tables.index(vm, tag, addr, key)
	local here = tag == layout.TABLE and tables.at(vm, addr) or nil
	for steps = 0, LONGEST_CHAIN do
		if here then
			local bits, at = here:get(key)
			if bits then return bits, at, steps end
			tag, addr = layout.TABLE, here.addr
		end
		local metatable = tables.metatable(vm, tag, addr)
		here = metatable and metatable:table "__index"
		if not here then return nil end
	end
end

-- ---- roots ----

function tables.registry(vm)
	local tag, addr = tvalue.decode(vm, vm.t:u64(xcore.addr(xcore.ref(vm.g, "registrytv"))))
	if tag ~= layout.TABLE then error(xcore.error("format", "the registry is not a table")) end
	return tables.at(vm, addr)
end

function tables.globals(vm)
	return tables.at(vm, vm.main.env[vm.layout.ref])
end

-- package.loaded; nil if there is none.
function tables.loaded(vm)
	return tables.registry(vm):table "_LOADED"
end

return tables
