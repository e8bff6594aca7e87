-- tab: the entries of a table.
local xcore = require "xcore"
local object = require "puclua.object"
local value = require "puclua.value"

local tab = {}

-- Slots of the array and nodes of the hash part.
function tab.parts(vm, addr)
	local fields, parts = object.table_parts(vm)
	return parts(xcore.gather("Table", { addr }, fields), 1)
end

-- Calls fn(key, value_at) for all non-nil entries; at most `max` slots of either part are examined. `key` is { index
-- = n } in the array and { at, tt } in the hash part: the addresses of value and tag. Ends when fn returns true.
function tab.each(vm, addr, max, fn)
	local slots, nodes = tab.parts(vm, addr)
	local t, L, here = vm.t, vm.layout, vm.t:value("Table", addr)
	local array, node = here.array and xcore.addr(here.array) or 0, here.node and xcore.addr(here.node) or 0
	for i = 0, math.min(slots, max) - 1 do
		local at = array + i * L.value_size
		if t:u8(at + L.tt) & 0xf ~= 0 and fn({ index = i + 1 }, at) then return end
	end
	for i = 0, math.min(nodes, max) - 1 do
		local at = node + i * L.node_size
		if t:u8(at + L.node_value + L.tt) & 0xf ~= 0 then
			if fn({ at = at + L.key_value, tt = at + L.key_tt }, at + L.node_value) then return end
		end
	end
	return slots > max or nodes > max
end

local MOST = 1 << 22

-- The address of the value under a key: a string, or a number.
function tab.get(vm, addr, wanted)
	local found
	tab.each(vm, addr, MOST, function(key, at)
		if key.index then
			if key.index == wanted then found = at end
		else
			local kind, payload = value.decode(vm, key.at, key.tt)
			if kind == "string" and type(wanted) == "string" then
				local text, len = vm:string(payload, #wanted)
				if len == #wanted and text == wanted then found = at end
			elseif kind == "number" and payload == wanted then
				found = at
			end
		end
		return found
	end)
	return found
end

-- A key in Lua syntax after a table: ".name", "[17]", "["a b"]".
function tab.key(vm, key, max)
	if key.index then return ("[%d]"):format(key.index) end
	local kind, payload = value.decode(vm, key.at, key.tt)
	if kind == "string" then
		local text, len = vm:string(payload, (max or 40) + 1)
		if len <= (max or 40) and text:find "^[%a_][%w_]*$" then return "." .. text end
	end
	return "[" .. value.show(vm, key.at, max or 40, key.tt) .. "]"
end

function tab.registry(vm)
	local kind, addr = value.decode(vm, xcore.addr(xcore.ref(vm.g, "l_registry")))
	return kind == "table" and addr or nil
end

-- The table of globals: of the main thread in 5.1, in the registry since 5.2.
function tab.globals(vm)
	local at
	if vm.layout.array_of_calls then
		at = xcore.addr(xcore.ref(vm.main, "l_gt"))
	else
		local GLOBALS = 2
		local registry = tab.registry(vm)
		at = registry and tab.get(vm, registry, GLOBALS)
	end
	if not at then return nil end
	local kind, addr = value.decode(vm, at)
	return kind == "table" and addr or nil
end

-- package.loaded: { name, addr } of the tables in it.
function tab.loaded(vm)
	local list, registry = {}, tab.registry(vm)
	local at = registry and tab.get(vm, registry, "_LOADED")
	if not at then return list end
	local kind, loaded = value.decode(vm, at)
	if kind ~= "table" then return list end
	tab.each(vm, loaded, 4096, function(key, value_at)
		local of, addr = value.decode(vm, value_at)
		if not key.index and of == "table" then
			local is, name = value.decode(vm, key.at, key.tt)
			if is == "string" then list[#list + 1] = { name = vm:string(name, 100), addr = addr } end
		end
	end)
	return list
end

return tab
