-- metatables: the name of a metatable: by __name, by its key in the registry (luaL_newmetatable) or in
-- package.loaded.
local xcore = require "xcore"
local label = require "luajit.label"
local layout = require "luajit.layout"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"

local metatables = {}

local MOST = 100000 -- maximum entries of the registry examined

local function text_of(vm, bits)
	local tag, addr = tvalue.decode(vm, bits)
	return tag == layout.STRING and vm:string(addr, 80) or nil
end

-- Names of tables directly in another table.
local function collect(vm, names, from, before)
	local seen = 0
	from:each(function(key, bits, _, array)
		seen = seen + 1
		local tag, addr = tvalue.decode(vm, bits)
		if not array and tag == layout.TABLE and not names[addr] then
			local name = text_of(vm, key)
			if name then
				names[addr] = before .. name
			elseif tvalue.decode(vm, key) == 3 then
				names[addr] = "registry" .. label.key(vm, key)
			end
		end
		return seen >= MOST
	end)
end

local function names_of(vm)
	if vm.metatable_names then return vm.metatable_names end
	local names = {}
	vm.metatable_names = names
	pcall(function()
		collect(vm, names, tables.registry(vm), "")
		local loaded = tables.loaded(vm)
		if loaded then collect(vm, names, loaded, "module ") end
	end)
	return names
end

-- Its name, or its address.
function metatables.name(vm, addr)
	local ok, own = pcall(function() return text_of(vm, tables.at(vm, addr):get { text = "__name" } or -1) end)
	return ok and own or names_of(vm)[addr] or "table " .. xcore.hex(addr)
end

return metatables
