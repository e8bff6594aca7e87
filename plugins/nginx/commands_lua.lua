-- commands_lua.lua: data of the Lua module: limits and counters, timers, coroutines of requests, cached code,
-- cosocket pools, caches.
--
-- Its tables are in the VM's registry under the addresses of C variables, as light userdata.
local xcore = require "xcore"
local args = require "lib.args"
local cycle = require "nginx.cycle"
local list = require "nginx.list"
local lrucache = require "nginx.lrucache"
local luastack = require "nginx.luastack"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local reqs = require "nginx.reqs"
local request = require "nginx.request"

local commands = {}

local MASK = (1 << 47) - 1 -- mask of addresses in light userdata

-- The module's main configuration, or nil and the reason.
local function main_conf(t)
	cycle.of(t)
	local conf, why = damage.try(cycle.main_conf, t, "http", "ngx_http_lua_module", "ngx_http_lua_main_conf_t")
	if not conf and not why then error(xcore.error("not_found", "this nginx does not have the Lua module")) end
	return conf, why
end

-- The number of nodes in a queue; nil if the queue does not exist or is damaged.
local function length(queue)
	if not queue or not queue.next then return nil end
	return (damage.try(function()
		local count = 0
		for _ in list.queue(queue) do count = count + 1 end
		return count
	end))
end

local function add_facts(section, conf)
	local function limit(key, what, of)
		section:integer(key, maybe.get(conf, what))
		section:integer(key .. "_most", maybe.get(conf, of), { label = key:gsub("_", " ") .. ", at most" })
	end
	section:address("state", conf.lua)
	limit("pending_timers", "pending_timers", "max_pending_timers")
	limit("running_timers", "running_timers", "max_running_timers")
	limit("regex_cache", "regex_cache_entries", "regex_cache_max_entries")
	section:count("cached_coroutines", length(maybe.get(conf, "cached_lua_threads")))
	local pending, most = maybe.get(conf, "pending_timers"), maybe.get(conf, "max_pending_timers")
	if pending and most and pending >= most then
		section:warning("ngx.timer.at fails: the maximum number of timers is pending", "lua_max_pending_timers")
	end
	local running, most_running = maybe.get(conf, "running_timers"), maybe.get(conf, "max_running_timers")
	if running and most_running and running >= most_running then
		section:warning("timers are delayed: the maximum number of timers is running", "lua_max_running_timers")
	end
end

-- ---- the registry ----

-- The table in the registry under the address of a C variable, from luajit.tables; nil if there is none.
local function registered(vm, variable)
	if not vm.t:has_symbol(variable) then return nil end
	local tables, tvalue, layout = require "luajit.tables", require "luajit.tvalue", require "luajit.layout"
	local bits = tables.registry(vm):get { light = vm.t:symbol(variable).addr & MASK }
	if not bits then return nil end
	local tag, addr = tvalue.decode(vm, bits)
	return tag == layout.TABLE and tables.at(vm, addr) or nil
end

-- Chunks by cache key; newer modules store a number under the key and the function under that number.
local function add_code(vm, section)
	local cached = registered(vm, "ngx_http_lua_code_cache_key")
	if not cached then return end
	local value, tvalue, layout = require "luajit.value", require "luajit.tvalue", require "luajit.layout"
	local rows = section:table("code", { { "key", "text" }, { "chunk", "text" } })
	cached:each(function(key, bits, _, array)
		if array or tvalue.decode(vm, key) ~= layout.STRING then return end
		local tag, number = tvalue.decode(vm, bits)
		if tag == layout.INTEGER then bits = cached:get { number = number } or bits end
		rows:row((value.show(vm, key, 100):gsub('"', "")), value.show(vm, bits, 100))
	end)
end

local function pool_row(vm, rows, name, addr)
	local pool = vm.t:value("ngx_http_lua_socket_pool_t", addr + xcore.sizeof "GCudata")
	local idle = length(pool.cache)
	rows:row(name, idle, maybe.get(pool, "connections"), maybe.get(pool, "size"), length(maybe.get(pool, "wait_connect_op")),
		maybe.get(pool, "backlog"), xcore.addr(pool))
end

-- Cosocket pools by name: idle sockets, all sockets, capacity.
local function add_pools(vm, section)
	local pools = registered(vm, "ngx_http_lua_socket_pool_key")
	if not pools then return end
	local tvalue, layout = require "luajit.tvalue", require "luajit.layout"
	local rows = section:table("cosocket_pools", { { "pool", "text" }, { "idle", "count" }, { "connections", "count" },
		{ "size", "count" }, { "waiting", "count" }, { "backlog", "integer" }, { "address", "address", verbose = true } })
	pools:each(function(key, bits)
		local key_tag, name = tvalue.decode(vm, key)
		local tag, addr = tvalue.decode(vm, bits)
		if key_tag == layout.STRING and tag == layout.USERDATA then
			damage.try(pool_row, vm, rows, vm:string(name, 256), addr)
		end
	end)
end

local function add_caches(t, vm, section)
	local _, now = cycle.now(t)
	local rows = section:table("lrucaches", { { "cache", "address" }, { "module", "text" }, { "entries", "count" }, { "room", "count" },
		{ "full", "ratio" }, { "expired", "count" } })
	for _, one in ipairs(lrucache.all(vm, now)) do
		local entries = one.items or one.queued
		rows:row(one.addr, one.module, entries, one.max, entries and one.max and one.max > 0 and entries / one.max or nil, one.expired)
		if one.damaged then
			section:warning(("the queue of the cache at %s does not lead back to its head"):format(xcore.hex(one.addr)))
		end
		if one.items and one.queued and one.items ~= one.queued then
			section:warning(("the cache at %s counts %d entries, but its queue has %d"):format(xcore.hex(one.addr),
				one.items, one.queued))
		end
	end
end

-- ---- coroutines ----

local function add_coroutines(t, section, all, limit)
	local rows = section:table("coroutines", { { "request", "text", secret = true }, { "kind", "text" },
		{ "waits", "text", label = "WAITS FOR" }, { "lua", "text" }, { "coroutine", "address" } })
	local shown, left = 0, 0
	for _, one in ipairs(all) do
		for _, co in ipairs(one.lua and not one.done and one.lua.coroutines or {}) do
			if shown < limit then
				rows:row(reqs.title(one), co.kind, co.current and "(runs)" or co.wait or co.status,
					luastack.line((luastack.of(t, co.co)), true), co.co)
				shown = shown + 1
			else
				left = left + 1
			end
		end
	end
	if left > 0 then section:note(("%d more coroutines"):format(left), "--limit N shows more") end
	return shown + left
end

-- Other VMs may belong to worker threads; the configuration leads to the module's own VM.
local function vm_of(t)
	return luastack.vm(t)
end

function commands.lua(t, report, given)
	local options = args.parse(given, { limit = "number" })
	local conf, broken = main_conf(t)
	local section = report:section("lua", "nginx: Lua")
	if broken then
		section:problem("the configuration cannot be read", broken)
	else
		damage.part(section, "the configuration", add_facts, section, conf)
	end
	local found, why = damage.try(vm_of, t)
	if found then
		damage.part(section, "cosocket pools", add_pools, found, section)
		damage.part(section, "lrucaches", add_caches, t, found, section)
		damage.part(section, "the code cache", add_code, found, section)
		if not t:has_symbol "ngx_http_lua_socket_pool_key" then
			section:note "cosocket pools and cached code are found by symbols, which the program lacks"
		end
	else
		section:unknown("registry", why or "the VM was not found")
	end
	local waiting = report:section("coroutines", "nginx: coroutines of requests and timers")
	local all = damage.try(request.all, t) or {}
	waiting:headline(("%d coroutines"):format(add_coroutines(t, waiting, all, options.limit or 1000)))
end

return commands
