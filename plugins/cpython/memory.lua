-- memory: the commands about objects: objects, refs.
local xcore = require "xcore"
local args = require "lib.args"
local graph = require "cpython.graph"
local label = require "cpython.label"
local objects = require "cpython.objects"
local runtime = require "cpython.runtime"
local value = require "cpython.value"

local memory = {}

local SHOWN, BIGGEST, LETTERS = 30, 10, 60

local function add_collector(py, section, counts, order)
	local rows = section:table("generations", { { "generation", "text" }, { "objects", "count" } })
	for _, name in ipairs(order) do rows:row(name, counts[name]) end
	for _, interpreter in ipairs(py.interpreters) do
		local gc = interpreter.gc
		section:bool("enabled", gc.enabled ~= 0)
		if gc.collecting ~= 0 then
			section:note "a collection is in progress: objects that it has set aside are in no generation"
		end
	end
end

-- Adds the objects of a batch to the statistics of their type and to the largest objects.
local function add(one, top, addresses, sizes)
	local least = top:least() or -1
	one.count = one.count + #addresses
	for i, size in ipairs(sizes) do
		one.sum = one.sum + size
		if size > one.max then one.max, one.biggest = size, addresses[i] end
		if size > least then
			top:add(size, { one.type.name, addresses[i] })
			least = top:least() or -1
		end
	end
end

-- Statistics by type, most bytes first, and in total; the largest objects; the collector's counts.
local function statistics(py, options, limit)
	local by_type, list, top, all = {}, {}, xcore.top(limit), { count = 0, bytes = 0, tracked = 0 }
	all.generations, all.order = objects.each(py, function(type, addresses, sizes)
		local one = by_type[type]
		if not one then
			one = { type = type, count = 0, sum = 0, max = -1 }
			by_type[type], list[#list + 1] = one, one
		end
		local before = one.sum
		add(one, (not options.type or type.name == options.type) and top or xcore.top(1), addresses, sizes)
		all.count, all.bytes = all.count + #addresses, all.bytes + one.sum - before
	end)
	for _, count in pairs(all.generations) do all.tracked = all.tracked + count end
	table.sort(list, function(a, b)
		if a.sum ~= b.sum then return a.sum > b.sum end
		return a.type.addr < b.type.addr
	end)
	return list, top, all
end

local function add_biggest(py, section, top)
	local rows = section:table("biggest", {
		{ "size", "bytes" }, { "type", "text" }, { "address", "address" }, { "value", "text", secret = true },
	})
	for _, one in ipairs(top:items()) do
		rows:row(one.weight, one.item[1], one.item[2], value.short(py, one.item[2], LETTERS))
	end
end

local function of_type(list, name)
	local found = {}
	for _, one in ipairs(list) do
		if one.type.name == name then found[#found + 1] = one end
	end
	if #found > 0 then return found end
	error(xcore.error("not_found", "no object has the type " .. name, "cpython.objects shows the names: module.Class"))
end

-- cpython.objects [--type NAME] [--limit N]
function memory.objects(t, report, list)
	local options = args.parse(list, { type = "text", limit = "number" }, 0)
	local py, limit = runtime.of(t), options.limit or SHOWN
	local found, top, all = statistics(py, options, options.type and limit or math.min(limit, BIGGEST))
	if options.type then found = of_type(found, options.type) end
	local section = report:section("objects", "Python objects")
	section:count("count", all.count)
	section:bytes("bytes", all.bytes)
	section:count("tracked", all.tracked, { label = "tracked by the collector" })
	add_collector(py, section, all.generations, all.order)
	local rows = section:table("types", {
		{ "type", "text" }, { "count", "count" }, { "sum", "bytes" }, { "share", "ratio" }, { "average", "bytes" }, { "max", "bytes" },
		{ "biggest", "address" },
	})
	for i, one in ipairs(found) do
		if i > limit then
			section:note(("%d more types"):format(#found - limit), "--limit N shows more")
			break
		end
		rows:row(one.type.name, one.count, one.sum, one.sum / all.bytes, one.sum // one.count, one.max, one.biggest)
	end
	add_biggest(py, section, top)
	if py.missing > 0 then section:warning(("%d arrays of references could not be read"):format(py.missing)) end
	py:tell(section)
end

local function add_holders(py, g, section, addr, limit)
	local holders, total, root = g:referrers(addr, limit)
	section:count("referrers", total, { label = "references to it" })
	if root then section:text("root", root) end
	local rows = section:table("holders", {
		{ "type", "text" }, { "by", "text", secret = true }, { "address", "address" }, { "object", "text", secret = true },
	})
	for _, holder in ipairs(holders) do
		local _, _, kind = g:find(holder)
		rows:row(kind, label.of(py, holder, addr), holder, value.short(py, holder, LETTERS))
	end
	if total > #holders then
		section:note(("the first %d of %d references are shown"):format(#holders, total), "--limit N shows more")
	end
end

local function add_path(py, g, section, addr)
	local nodes, root = g:path(addr)
	if not nodes then
		section:note("no module and no variable of a frame leads to it: "
			.. "C code holds it, the value stack of a running frame, or a cycle not yet collected")
		return
	end
	local rows = section:table("path", {
		{ "step", "text", secret = true }, { "type", "text" }, { "address", "address" }, { "object", "text", secret = true },
	})
	for i, node in ipairs(nodes) do
		local _, _, kind = g:find(node)
		rows:row(i == 1 and root or label.of(py, nodes[i - 1], node), kind, node, value.short(py, node, LETTERS))
	end
end

-- cpython.refs ADDR [--limit N]
function memory.refs(t, report, list)
	local options = args.parse(list, { limit = "number" }, 1)
	local py, wanted = runtime.of(t), args.address(options[1], "ADDR")
	local g = graph.of(py)
	local addr, size, kind = g:find(wanted)
	if not addr then
		local damage = py.damages and ("cpython.objects shows damage: " .. py.damages[1].what)
		error(xcore.error("not_found", xcore.hex(wanted) .. " is in no Python object that was found", damage or nil))
	end
	local section = report:section("refs", "References to an object")
	section:text("object", value.show(py, addr), { secret = true })
	section:text("type", kind)
	section:address("address", addr)
	section:bytes("size", size)
	section:count("reference_count", t:u32(addr), { label = "reference count" })
	local retained, count = g:retained(addr)
	if retained then
		section:bytes("retained", retained, { label = "retained (freed with it)" })
		section:count("retained_objects", count, { label = "in objects" })
	end
	add_path(py, g, section, addr)
	add_holders(py, g, section, addr, options.limit or SHOWN)
	py:tell(section)
end

return memory
