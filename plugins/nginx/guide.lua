-- guide.lua: the nginx page of `xcore analyze`: the request that died, other requests in flight, and suspicious
-- findings with their evidence.
local xcore = require "xcore"
local conn = require "nginx.conn"
local conns = require "nginx.conns"
local cycle = require "nginx.cycle"
local death = require "nginx.death"
local layout = require "nginx.layout"
local luastack = require "nginx.luastack"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local reqs = require "nginx.reqs"
local request = require "nginx.request"

local guide = {}

local FEW = 5
local LARGE_POOL = 1 << 20 -- bytes: the pool of a request is normally some kilobytes
local OLD = 60             -- seconds
local MANY = 8             -- requests that wait for one peer

-- ---- the death ----

local function add_death(section, found, by_addr)
	local one = found.request and by_addr[found.request]
	if one then
		section:text("in_request", reqs.title(one), { secret = true, label = one.is_main and "in" or "in subrequest" })
		section:address("request", one.addr)
		section:text("known_by", found.how)
		section:text("phase", one.phase)
		section:text("handler", one.handler)
		section:text("client", one.peer)
		section:seconds("age", one.age)
	end
	local brief = luastack.brief(found.stack, FEW + 1)
	if brief then
		section:text("lua", brief)
		section:text("vm", found.vm_doing)
	elseif one and one.lua and #one.lua.coroutines == 0 then
		section:text("lua", "no coroutine is left: the handler cannot wait, as in the filter and log phases")
	end
end

-- "was in a request, at app.lua:12"; the request itself is user data, and therefore a field.
local function headline(t, found, by_addr)
	if found.idle then return t.live and "waits for events" or "waited for events" end
	local one, line = found.request and by_addr[found.request], luastack.line(found.stack, true)
	local what = one and (one.fake and "a Lua timer" or one.is_main and "a request" or "a subrequest") or line and "Lua" or found.func
	return what and ("%s in %s%s"):format(t.live and "is" or "was", what, line and ", at " .. line or "")
end

-- ---- requests in flight ----

-- The common activity of several requests, without times.
local function doing_of(one)
	return (one.doing or one.phase and "in " .. one.phase or "unknown"):gsub(", %-?[%d.]+ s left$", "")
end

local function add_states(section, list)
	local by, order = {}, {}
	for _, one in ipairs(list) do
		local what = doing_of(one)
		if not by[what] then
			by[what] = { count = 0 }
			order[#order + 1] = what
		end
		by[what].count = by[what].count + 1
		if one.age and one.age > (by[what].oldest or -1) then by[what].oldest = one.age end
	end
	table.sort(order, function(a, b)
		if by[a].count ~= by[b].count then return by[a].count > by[b].count end
		return a < b
	end)
	local rows = section:table("in_flight", { { "count", "count" }, { "doing", "text" }, { "oldest", "seconds" } })
	for i, what in ipairs(order) do
		if i > 2 * FEW then break end
		rows:row(by[what].count, what, by[what].oldest)
	end
	if #order > 2 * FEW then section:note(("%d more states"):format(#order - 2 * FEW), "nginx.reqs") end
end

-- ---- suspicious findings ----

local function suspicious_requests(section, list)
	local old, large = {}, {}
	for _, one in ipairs(list) do
		for _, text in ipairs(reqs.findings(one)) do section:warning(text) end
		if one.is_main and one.age and one.age > OLD then old[#old + 1] = one end
		if one.is_main and one.pool_bytes and one.pool_bytes > LARGE_POOL then large[#large + 1] = one end
	end
	if #old > 0 then
		section:warning(("%d requests are older than one minute; the oldest is %s, %.0f s: %s"):format(#old,
			xcore.hex(old[1].addr),
			old[1].age, doing_of(old[1])), "nginx.req TARGET " .. xcore.hex(old[1].addr))
	end
	for i, one in ipairs(large) do
		if i > FEW then break end
		section:warning(("request %s has %.1f MiB in its pool, freed only when the request ends"):format(
			xcore.hex(one.addr),
			one.pool_bytes / (1 << 20)), "nginx.req TARGET " .. xcore.hex(one.addr))
	end
end

local function suspicious_upstreams(section, list)
	local waiting = {}
	for _, one in ipairs(list) do
		local peer = one.upstream and one.upstream.state ~= "reads its body" and one.upstream.peer
		if peer and not one.done then waiting[peer] = (waiting[peer] or 0) + 1 end
	end
	for peer, count in pairs(waiting) do
		if count >= MANY then
			section:warning(("%d requests are waiting for the upstream %s"):format(count, peer), "nginx.upstreams")
		end
	end
end

local function suspicious_lua(t, section)
	local conf = cycle.main_conf(t, "http", "ngx_http_lua_module", "ngx_http_lua_main_conf_t")
	local pending, most = maybe.get(conf, "pending_timers"), maybe.get(conf, "max_pending_timers")
	if pending and most and pending >= most then
		section:warning(("%d Lua timers are pending, the maximum: ngx.timer.at fails"):format(pending),
			"lua_max_pending_timers")
	end
	local running, may_run = maybe.get(conf, "running_timers"), maybe.get(conf, "max_running_timers")
	if running and may_run and running >= may_run then
		section:warning(("%d Lua timers are running, the maximum"):format(running), "lua_max_running_timers")
	end
end

local function suspicious_connections(t, section, list)
	local pool = conn.pool(t)
	if pool.why then section:problem(pool.why) end
	if pool.free_count * 20 < pool.count then
		section:warning(("%d of %d connections are free"):format(pool.free_count, pool.count), "worker_connections")
	end
	local told, own = conn.stub_status(t), nil
	if told and told.active then
		own = conns.own_status(list, {})
		if own.active > told.active then
			section:warning(("stub_status counts %d connections, but this worker has %d"):format(told.active,
				own.active))
		end
	end
end

-- ---- the page ----

local function worker(t, section)
	local list, lost = request.all(t)
	local connections, bad = conn.all(t)
	local by_addr = {}
	for _, one in ipairs(list) do by_addr[one.addr] = one end
	local found = death.of(t, list)
	local role, version = cycle.role(t), damage.try(cycle.version, t)
	local doing = headline(t, found, by_addr)
	section:headline(("nginx %s, %s%s; %s; %d of %d connections in use"):format(version or "of unknown version", role or "process",
		doing and ", " .. doing or "", reqs.headline(list), #connections, conn.pool(t).count))
	damage.part(section, "the activity at its death", add_death, section, found, by_addr)
	if #list > 0 then
		add_states(section, list)
		local left = reqs.add(t, section, list, FEW)
		if left > 0 then section:note(("the oldest of %d requests"):format(#list), "nginx.reqs lists all, nginx.req shows one") end
	end
	damage.part(section, "the warnings about requests", suspicious_requests, section, list)
	damage.part(section, "the warnings about upstreams", suspicious_upstreams, section, list)
	damage.part(section, "the warnings about Lua", suspicious_lua, t, section)
	damage.part(section, "the warnings about connections", suspicious_connections, t, section, connections)
	if lost.bad > 0 then section:problem(("requests that cannot be read: %d"):format(lost.bad), lost.why) end
	if bad.bad > 0 then section:problem(("connections that cannot be read: %d"):format(bad.bad), bad.why) end
end

-- A master has no connections: its workers do the work.
local function master(t, section)
	local role, kind = cycle.role(t)
	if kind ~= cycle.MASTER then return false end
	section:headline(("nginx %s, %s"):format(damage.try(cycle.version, t) or "of unknown version", role))
	section:note("a master process has no requests: inspect its workers", "nginx.cycle lists them")
	return true
end

function guide.analyze(t, report)
	local section = report:section("nginx", "nginx")
	local known, refusal = layout.known(t)
	if not known and not t:has_symbol "ngx_cycle" then return section:note "there is no nginx in this process" end
	if not known then return section:note(damage.message(refusal), refusal.hint) end
	if damage.try(master, t, section) then return end
	local _, why = damage.try(worker, t, section)
	damage.try(require("nginx.commands_memory").analyze, t, report)
	if not why then return end
	local role = cycle.role(t)
	section:headline(role or "nginx")
	section:problem("connections and requests cannot be read", why)
end

return guide
