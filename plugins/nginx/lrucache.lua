-- lrucache.lua: caches of lua-resty-lrucache: the number of entries and of expired entries.
--
--	a cache   table with the metatable that resty.lrucache's `new` has as its upvalue mt
--	          { hasht, cache_queue, free_queue, num_items, max_items }; pureffi: { buckets, key_v, val_v, …, the same queues }
--	a queue   lrucache_queue_t [?] (cdata): the first is the head of a ring     | expire 8 | prev | next | user_flags |
--	          pureffi                                                           | expire 8 | id 4 | prev | next | …   |
local xcore = require "xcore"
local damage = require "lib.damage"

local lrucache = {}

local MODULES = { "resty.lrucache", "resty.lrucache.pureffi" }
local MOST = 10000000

local function open()
	return { expression = require "luajit.expression", layout = require "luajit.layout", object = require "luajit.object",
		tables = require "luajit.tables", tvalue = require "luajit.tvalue" }
end

-- The addresses of the metatables of caches: { [address] = module name }; empty if no such module was loaded.
local function metatables(vm, lj)
	local found = {}
	for _, name in ipairs(MODULES) do
		local done, bits = pcall(lj.expression.eval, vm, ('package.loaded["%s"].new → upvalue mt'):format(name))
		local tag, addr
		if done then tag, addr = lj.tvalue.decode(vm, bits) end
		if tag == lj.layout.TABLE then found[addr] = name end
	end
	return found
end

-- Entries in a cache's queue in order of use, and the number of expired ones; reads at most `max`.
local function queue(vm, cdata, pureffi, now, max)
	local head = cdata + xcore.sizeof "GCcdata"
	local next = pureffi and 24 or 16
	local count, expired, at = 0, 0, vm.t:u64(head + next)
	while at ~= head and at ~= 0 and count <= max do
		local expire = vm.t:f64(at)
		if expire >= 0 and now and expire < now then expired = expired + 1 end
		count, at = count + 1, vm.t:u64(at + next)
	end
	return count, expired, at ~= head
end

local function number(lj, vm, bits)
	if not bits then return nil end
	local tag, payload = lj.tvalue.decode(vm, bits)
	return tag == 13 and math.tointeger(payload) or nil
end

local function describe(vm, lj, addr, module, now)
	local tab = lj.tables.at(vm, addr)
	local one = { addr = addr, module = module, items = number(lj, vm, tab:get { text = "num_items" }),
		max = number(lj, vm, tab:get { text = "max_items" }) }
	local bits = tab:get { text = "cache_queue" }
	local tag, cdata
	if bits then tag, cdata = lj.tvalue.decode(vm, bits) end
	if tag == lj.layout.CDATA then
		one.queued, one.expired, one.damaged = queue(vm, cdata, module:find "pureffi", now, math.min(one.max or MOST, MOST))
	end
	return one
end

-- All caches: {addr, module, items, max, queued, expired, damaged}. Examines all tables of the VM, unless the module
-- was never loaded.
function lrucache.all(vm, now)
	local lj, list = open(), {}
	local wanted = metatables(vm, lj)
	if next(wanted) == nil then return list end
	local member = "metatable." .. vm.layout.ref
	lj.object.each(vm, { [lj.layout.TABLE] = { member } }, function(_, addresses, columns)
		for i, metatable in ipairs(columns[member]) do
			if wanted[metatable] then
				list[#list + 1] = damage.try(describe, vm, lj, addresses[i], wanted[metatable], now)
			end
		end
	end, lj.layout.TABLE)
	return list
end

return lrucache
