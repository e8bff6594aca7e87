-- retained: memory that would be freed with an object: by object, type, root and module; also as flame graphs.
local xcore = require "xcore"
local flame = require "luajit.flame"
local graph = require "luajit.graph"
local label = require "luajit.label"
local layout = require "luajit.layout"
local path = require "luajit.path"
local retention = require "lib.retention"
local tvalue = require "luajit.tvalue"

local retained = {}

local SHOWN, LONGEST = 20, 140

local function note_more(section, shown, all, what)
	if shown < all then
		section:note(("the first %d of %d %s are shown"):format(shown, all, what), "--limit N shows more")
	end
end

-- An object below a previous one that retains nearly the same memory is a step of the same chain: only the last step
-- is shown.
local function without_chains(g, list)
	local kept = {}
	for _, it in ipairs(list) do
		local above = g:dominator(it.addr)
		local last = kept[above]
		if last and it.retained * 100 >= last.retained * 99 then
			it.chain = (last.chain or 1) + 1
			last.hidden = true
		end
		kept[it.addr] = it
	end
	local shown = {}
	for _, it in ipairs(list) do
		if not it.hidden then shown[#shown + 1] = it end
	end
	return shown
end

local BY = {}

function BY.object(vm, g, section, options)
	local limit = options.limit or SHOWN
	local list = without_chains(g, g:top { by = "retained", kind = options.kind, limit = limit * 4 })
	retention.objects(section, list, limit, options.reached, function(addr)
		local text = label.path(vm, g, addr)
		return text and retention.short(text, LONGEST)
	end, "luajit.path")
end

function BY.kind(_, g, section)
	retention.kinds(section, g)
end

function BY.root(_, g, section, options)
	local list = g:roots()
	table.sort(list, function(a, b)
		local x, y = a.near_bytes or -1, b.near_bytes or -1
		if x ~= y then return x > y end
		return (a.name or "") < (b.name or "")
	end)
	retention.roots(section, list, options.reached)
end

-- The value of a string key in a table: tag and payload.
local function field(vm, addr, name)
	local tab, stride = vm.t:value("GCtab", addr), xcore.sizeof "Node"
	if tab.hmask == 0 then return nil end
	for i = 0, math.min(tab.hmask, 1 << 20) do
		local node = tab.node[vm.layout.mref] + i * stride
		local tag, key = tvalue.decode(vm, vm.t:u64(node + xcore.offsetof("Node", "key")))
		if tag == layout.STRING and vm:string(key, #name + 1) == name then
			return tvalue.decode(vm, vm.t:u64(node + xcore.offsetof("Node", "val")))
		end
	end
end

-- package.loaded of the VM: { name, address } of the objects in it.
function retained.modules(vm)
	local _, registry = tvalue.decode(vm, vm.t:u64(xcore.addr(xcore.ref(vm.g, "registrytv"))))
	local tag, loaded = field(vm, registry, "_LOADED")
	if tag ~= layout.TABLE then return nil end
	local tab, stride, list = vm.t:value("GCtab", loaded), xcore.sizeof "Node", {}
	for i = 0, tab.hmask > 0 and math.min(tab.hmask, 1 << 20) or -1 do
		local node = tab.node[vm.layout.mref] + i * stride
		local kind, key = tvalue.decode(vm, vm.t:u64(node + xcore.offsetof("Node", "key")))
		local value_tag, payload = tvalue.decode(vm, vm.t:u64(node + xcore.offsetof("Node", "val")))
		if kind == layout.STRING and value_tag >= layout.STRING and value_tag <= layout.USERDATA then
			list[#list + 1] = { name = vm:string(key, 256), addr = payload }
		end
	end
	return list
end

function BY.module(vm, g, section, options)
	local list = retained.modules(vm)
	if not list then return section:note "there is no package.loaded" end
	local found, limit = {}, options.limit or 100
	for _, module in ipairs(list) do
		local addr, _, kind = g:find(module.addr)
		if addr then
			module.kind = kind
			module.bytes, module.count = g:retained(addr)
			found[#found + 1] = module
		end
	end
	table.sort(found, function(a, b)
		if a.bytes ~= b.bytes then return (a.bytes or 0) > (b.bytes or 0) end
		return a.name < b.name
	end)
	local rows = section:table("modules", {
		{ "module", "text" }, { "retained", "bytes" }, { "objects", "count" }, { "share", "ratio" }, { "type", "text" }, { "address", "address" },
	})
	for i, module in ipairs(found) do
		if i > limit then break end
		rows:row(
			module.name,
			module.bytes,
			module.count,
			module.bytes and module.bytes / options.reached,
			module.kind,
			module.addr
		)
	end
	note_more(section, math.min(limit, #found), #found, "modules")
	section:note "memory that other modules also refer to is not counted: it is not freed with one module"
end

local TITLES = { object = "Objects that retain the most memory", kind = "Retained by type", root = "Retained by root",
	module = "Retained by module" }

-- luajit.retained [--by object|kind|root|module] [--limit N] [TYPE]
function retained.run(t, report, args)
	local vm, options = path.options(t, args, { limit = "number", by = "text" })
	local by = options.by or "object"
	if not BY[by] then error(xcore.error("usage", "--by: unknown order: " .. by, "object, kind, root or module")) end
	local g, made = graph.of(vm)
	local section = report:section("retained", TITLES[by])
	options.reached = retention.totals(section, g, made.bytes)
	BY[by](vm, g, section, options)
	graph.tell(vm, report)
end

-- luajit.gcref and luajit.dominators
function retained.paths(t, tree) flame.fill(t, tree, "path") end
function retained.dominators(t, tree) flame.fill(t, tree, "dominator") end

return retained
