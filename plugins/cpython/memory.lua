-- memory: the commands about objects: objects, path.
local xcore = require "xcore"
local args = require "cpython.args"
local graph = require "cpython.graph"
local objects = require "cpython.objects"
local runtime = require "cpython.runtime"
local value = require "cpython.value"

local memory = {}

local SHOWN, LETTERS = 30, 60

local function collector(py, section)
	local list, order = objects.tracked(py)
	local rows = section:table("generations", { { "generation", "text" }, { "objects", "count" } })
	for _, name in ipairs(order) do rows:row(name, #list[name]) end
	for _, interpreter in ipairs(py.interpreters) do
		local gc = interpreter.gc
		section:bool("enabled", gc.enabled ~= 0)
		if gc.collecting ~= 0 then section:note "a collection is under way: what it has set aside stands in no generation" end
	end
end

local function by_type(py, options)
	local list, count, bytes = {}, 0, 0
	objects.each(py, function(type, addresses, sizes)
		local sum, max, biggest = 0, -1, nil
		for i, size in ipairs(sizes) do
			sum = sum + size
			if size > max then max, biggest = size, addresses[i] end
		end
		count, bytes = count + #addresses, bytes + sum
		if not options.type or type.name == options.type then
			list[#list + 1] = {
				type = type, count = #addresses, sum = sum, max = max, biggest = biggest, addresses = addresses, sizes = sizes,
			}
		end
	end)
	table.sort(list, function(a, b)
		if a.sum ~= b.sum then return a.sum > b.sum end
		return a.type.addr < b.type.addr
	end)
	return list, count, bytes
end

local function add_biggest(py, section, list, limit)
	local top = xcore.top(limit)
	for _, one in ipairs(list) do
		local least = top:least()
		for i, size in ipairs((not least or one.max > least) and one.sizes or {}) do
			if not least or size > least then
				top:add(size, { one.type.name, one.addresses[i] })
				least = top:least()
			end
		end
	end
	local rows = section:table("biggest", {
		{ "size", "bytes" }, { "type", "text" }, { "address", "address" }, { "value", "text", secret = true },
	})
	for _, one in ipairs(top:items()) do rows:row(one.weight, one.item[1], one.item[2], value.short(py, one.item[2], LETTERS)) end
end

-- cpython.objects [--type NAME] [--limit N]
function memory.objects(t, report, list)
	local options = args.parse(list, { type = "text", limit = "number" }, 0)
	local py, limit = runtime.of(t), options.limit or SHOWN
	local found, count, bytes = by_type(py, options)
	if options.type and #found == 0 then
		error(xcore.error("not_found", "no object is of type " .. options.type, "names are as cpython.objects shows them: module.Class"))
	end
	local section = report:section("objects", "Python objects")
	local _, tracked = objects.all(py)
	section:count("count", count)
	section:bytes("bytes", bytes)
	section:count("tracked", tracked, { label = "tracked by the collector" })
	collector(py, section)
	local rows = section:table("types", {
		{ "type", "text" }, { "count", "count" }, { "sum", "bytes" }, { "share", "ratio" }, { "average", "bytes" }, { "max", "bytes" },
		{ "biggest", "address" },
	})
	for i, one in ipairs(found) do
		if i > limit then
			section:note(("%d more types"):format(#found - limit), "--limit N shows more")
			break
		end
		rows:row(one.type.name, one.count, one.sum, one.sum / bytes, one.sum // one.count, one.max, one.biggest)
	end
	add_biggest(py, section, found, math.min(limit, options.type and limit or 10))
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
		rows:row(kind, graph.label(py, holder, addr), holder, value.short(py, holder, LETTERS))
	end
	if total > #holders then section:note(("the first %d of %d references are shown"):format(#holders, total), "--limit N shows more") end
end

local function add_path(py, g, section, addr)
	local nodes, root = g:path(addr)
	if not nodes then
		section:note("no module and no variable of a frame leads to it: "
			.. "C code holds it, a running frame's stack of values, or a cycle not yet collected")
		return
	end
	local rows = section:table("path", {
		{ "step", "text", secret = true }, { "type", "text" }, { "address", "address" }, { "object", "text", secret = true },
	})
	for i, node in ipairs(nodes) do
		local _, _, kind = g:find(node)
		rows:row(i == 1 and root or graph.label(py, nodes[i - 1], node), kind, node, value.short(py, node, LETTERS))
	end
end

-- cpython.refs ADDR [--limit N]
function memory.refs(t, report, list)
	local options = args.parse(list, { limit = "number" }, 1)
	local py, wanted = runtime.of(t), args.address(options[1], "ADDR")
	local g = graph.of(py)
	local addr, size, kind = g:find(wanted)
	if not addr then
		local damage = py.damages and ("there is damage, which cpython.objects tells: " .. py.damages[1].what)
		error(xcore.error("not_found", xcore.hex(wanted) .. " lies in no Python object that was found", damage or nil))
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
