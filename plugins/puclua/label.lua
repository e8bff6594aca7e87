-- label: the name of a reference between two objects: ".name", "[17]", "upvalue x", "metatable". It is found by a
-- search in the referring object, so only for objects that are shown.
local xcore = require "xcore"
local frame = require "puclua.frame"
local layout = require "puclua.layout"
local proto = require "puclua.proto"
local retention = require "lib.retention"
local tab = require "puclua.tab"
local value = require "puclua.value"

local label = {}

local OF = {}

-- Addresses in [lo, hi) of words that hold an address.
local function occurrences(vm, lo, hi, addr)
	if lo == 0 or hi <= lo then return function() end end
	return vm.t:find { bytes = string.pack("<i8", addr), within = { { lo, hi - 1 } }, align = 8 }
end

OF[layout.TABLE] = function(vm, parent, child)
	local L, here = vm.layout, vm.t:value("Table", parent)
	local slots, nodes = tab.parts(vm, parent)
	local array, node = here.array and xcore.addr(here.array) or 0, here.node and xcore.addr(here.node) or 0
	for at in occurrences(vm, array, array + slots * L.value_size, child) do
		if (at - array) % L.value_size == 0 then return ("[%d]"):format((at - array) // L.value_size + 1) end
	end
	local as_key
	for at in occurrences(vm, node, node + nodes * L.node_size, child) do
		local place = (at - node) % L.node_size
		local first = at - place
		if place == L.node_value then return tab.key(vm, { at = first + L.key_value, tt = first + L.key_tt }) end
		if place == L.key_value then as_key = "(key)" end
	end
	if here.metatable and xcore.addr(here.metatable) == child then return "metatable" end
	return as_key
end

OF[layout.FUNCTION] = function(vm, parent, child)
	local pt = value.prototype(vm, parent)
	local fn = vm.t:value("LClosure", parent)
	if pt then
		local at = parent + xcore.offsetof("LClosure", "upvals")
		for i = 0, fn.nupvalues - 1 do
			if vm.t:ptr(at + i * 8) == child then return "upvalue " .. (proto.upvalue(vm, pt, i) or i + 1) end
		end
		if xcore.addr(pt) == child then return "prototype" end
	else
		local at = parent + xcore.offsetof("CClosure", "upvalue")
		for found in occurrences(vm, at, at + fn.nupvalues * vm.layout.value_size, child) do
			return "upvalue " .. (found - at) // vm.layout.value_size + 1
		end
	end
	return "environment"
end

local function local_name(vm, parent, at)
	local list = frame.list(vm, parent)
	for i, one in ipairs(list) do
		if one.pt and one.base <= at then
			local slot = (at - one.base) // vm.layout.value_size + 1
			local name = one.pc and proto.locals(vm, one.pt, one.pc)[slot]
			return ("%s: %s"):format(frame.name(vm, one, list[i + 1]), name and "local " .. name or "slot " .. slot)
		end
		if one.func == at then return "running function" end
		if one.func < at then
			return frame.name(vm, one, list[i + 1]) .. ": slot " .. (at - one.func) // vm.layout.value_size
		end
	end
end

OF[layout.THREAD] = function(vm, parent, child)
	local stack, top = vm.t:ptr(parent + vm.layout.stack), vm.t:ptr(parent + vm.layout.top)
	for at in occurrences(vm, stack, top, child) do
		return local_name(vm, parent, at) or "stack slot " .. (at - stack) // vm.layout.value_size
	end
	return "globals"
end

OF[layout.USERDATA] = function(vm, parent, child)
	local here = vm.t:value("Udata", parent)
	if vm.layout.tagged_header then here = here.uv end
	return here.metatable and xcore.addr(here.metatable) == child and "metatable" or "user value"
end

local function of_prototype(vm, parent, child)
	local here = vm.t:value("Proto", parent)
	if here.source and xcore.addr(here.source) == child then return "chunk name" end
	local kind = vm:kind(child)
	if kind == vm.layout.proto then
		return ("function defined at line %d"):format(vm.t:value("Proto", child).linedefined)
	end
	return "constant or name"
end

-- The name of the reference from one object to another; "?" if it was not found. "" for upvalues: their function gave
-- it.
function label.of(vm, parent, child, parent_kind)
	if parent_kind == "upvalue" then return "" end
	local ok, text = pcall(function()
		local kind = vm:kind(parent)
		if kind == vm.layout.proto then return of_prototype(vm, parent, child) end
		return OF[kind] and OF[kind](vm, parent, child)
	end)
	return ok and text or "?"
end

-- The path of a graph to an object, as retention.path returns it.
function label.path(vm, g, addr)
	return retention.path(g, addr, function(parent, child, kind) return label.of(vm, parent, child, kind) end)
end

return label
