-- modules: the contents of package.loaded, and the memory that each module retains.
local graph = require "luajit.graph"
local layout = require "luajit.layout"
local object = require "luajit.object"
local commands = require "luajit.commands"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"
local value = require "luajit.value"

local modules = {}

local SHOWN = 50

local function retained_of(g, addr)
	local ok, bytes, count = pcall(g.retained, g, addr)
	if ok then return bytes, count end
end

-- Each module: name, bits, addr and own size (nil if it is not an object), retained bytes and count if a graph is
-- given.
function modules.list(vm, g)
	local loaded, list = tables.loaded(vm), {}
	if not loaded then return list end
	loaded:each(function(key, bits)
		local tag, addr = tvalue.decode(vm, bits)
		local one = { name = value.show(vm, key, 200):gsub('^"(.*)"$', "%1"), bits = bits, tag = tag }
		if tag >= layout.STRING and tag <= layout.USERDATA then
			local ok, size = pcall(object.size, vm, addr)
			one.addr, one.size = addr, ok and size or nil
			if g then one.retained, one.count = retained_of(g, addr) end
		end
		list[#list + 1] = one
	end)
	table.sort(list, function(a, b)
		local x, y = a.retained or a.size or 0, b.retained or b.size or 0
		if x ~= y then return x > y end
		return a.name < b.name
	end)
	return list
end

-- luajit.modules [--limit N] [--quick]
function modules.run(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number", quick = "flag" }, 0)
	local limit = parsed.limit or SHOWN
	local section = report:section("modules", "LuaJIT: package.loaded")
	local list = modules.list(vm, not parsed.quick and graph.of(vm) or nil)
	section:count("modules", #list)
	local rows = section:table("modules", {
		{ "name", "text" }, { "type", "text" }, { "size", "bytes", label = "OWN SIZE" }, { "retained", "bytes" }, { "objects", "count", label = "IN OBJECTS" },
		{ "address", "address" },
	})
	for i, one in ipairs(list) do
		if i > limit then break end
		rows:row(one.name, layout.NAMES[one.tag], one.size, one.retained, one.count, one.addr)
	end
	if #list > limit then section:note(("only %d of %d are shown"):format(limit, #list), "--limit N shows more") end
	if not parsed.quick then
		section:note "retained: memory that is freed with the module's table, without memory that others also hold"
	end
	vm:tell(section)
end

return modules
