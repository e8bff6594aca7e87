-- upstreams.lua: groups of backends, their peers, and the idle connections of each group.
--
--	ngx_http_upstream_main_conf_t.upstreams[] → ngx_http_upstream_srv_conf_t { host, flags (0: no block, made of a proxy_pass),
--	    peer.data → ngx_http_upstream_rr_peers_t { peer → next → …, next → the same of the backup servers } }
--	srv_conf[ngx_http_upstream_keepalive_module.ctx_index] { max_cached, cache: a queue of what is idle }
--
-- With a `zone` the peers are in shared memory. All balancing methods store their peers in this form; only the choice
-- differs.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local net = require "nginx.net"
local str = require "nginx.str"
local walk = require "lib.walk"

local upstreams = {}

local MOST = 100000

local function peer_of(peer, backup)
	return { name = str.try(peer.name, 256), server = str.try(peer.server, 256), weight = peer.weight, effective = peer.effective_weight,
		conns = maybe.get(peer, "conns"), max_conns = maybe.get(peer, "max_conns"), fails = peer.fails, max_fails = peer.max_fails,
		fail_timeout = peer.fail_timeout, checked = peer.checked, accessed = peer.accessed, down = peer.down ~= 0, backup = backup,
		addr = xcore.addr(peer) }
end

local function peers_of(t, kind, conf)
	local type = ("ngx_%s_upstream_rr_peers_t"):format(kind)
	local found, peers = {}, conf.peer.data and xcore.deref(xcore.cast(conf.peer.data, type .. " *"))
	local backup = false
	while peers do
		local before = #found
		for peer in walk.list(peers.peer, "next", { max = MOST }) do found[#found + 1] = peer_of(peer, backup) end
		if not t.live and #found - before ~= peers.number then
			error(xcore.error("fault",
				("it has %d peers, but counts %s"):format(#found - before, xcore.u64(peers.number))))
		end
		if backup or not peers.next then break end
		peers, backup = xcore.deref(peers.next), true
	end
	return found
end

-- The idle connections of a group: {peer, fd, requests}; nil if it keeps none.
local function idle_of(t, kind, conf)
	local module = kind == "http" and cycle.module(t, "ngx_http_upstream_keepalive_module")
	local own = module and conf.srv_conf and conf.srv_conf[module.ctx_index]
	if not own then return nil end
	own = xcore.deref(xcore.cast(own, "ngx_http_upstream_keepalive_srv_conf_t *"))
	if own.max_cached <= 0 then return nil end
	local found = {}
	for item in list.queue(own.cache, "ngx_http_upstream_keepalive_cache_t", "queue") do
		local c = item.connection
		found[#found + 1] = { peer = net.at(t, xcore.ref(item, "sockaddr"), item.socklen), fd = c and c.fd, requests = c and c.requests,
			connection = maybe.addr(item, "connection") }
	end
	return found, own.max_cached
end

-- The name of the balancing method: "least_conn" for ngx_http_upstream_init_least_conn; nil if it is unknown.
local function method_of(kind, conf, t)
	local init = conf.peer.init_upstream
	local module = kind == "http" and init and func.name(init) == "ngx_http_upstream_init_keepalive"
		and cycle.module(t, "ngx_http_upstream_keepalive_module")
	if module then
		init = xcore.cast(conf.srv_conf[module.ctx_index], "ngx_http_upstream_keepalive_srv_conf_t *").original_init_upstream
	end
	local name = init and func.name(init)
	return name and (name:gsub("^ngx_%l+_upstream_init_", ""):gsub("^ngx_%l+_", "")) or not init and "round_robin" or nil
end

local function describe(t, kind, conf)
	local one = { kind = kind, name = str.try(conf.host, 256) or "?", addr = xcore.addr(conf), port = conf.port,
		explicit = conf.flags & 1 ~= 0, file = conf.file_name and damage.try(xcore.str, conf.file_name, 256), line = conf.line }
	one.peers, one.why = damage.try(peers_of, t, kind, conf)
	one.method = damage.try(method_of, kind, conf, t)
	local done, idle, kept = pcall(idle_of, t, kind, conf)
	if done then one.idle, one.kept = idle, kept else one.why = one.why or damage.message(idle) end
	local zone = maybe.get(conf, "shm_zone")
	one.zone = zone and str.try(zone.shm.name, 256)
	for _, peer in ipairs(one.idle and one.peers or {}) do
		peer.idle = 0
		for _, item in ipairs(one.idle) do
			if item.peer == peer.name then peer.idle = peer.idle + 1 end
		end
	end
	return one
end

-- All groups of "http" and "stream": {kind, name, peers, idle, kept, zone, method, …}; `idle` of a peer is the list
-- of its idle connections.
function upstreams.all(t)
	local found = {}
	for _, kind in ipairs { "http", "stream" } do
		local type = ("ngx_%s_upstream_main_conf_t"):format(kind)
		local main = layout.has(t, type) and cycle.main_conf(t, kind, ("ngx_%s_upstream_module"):format(kind), type)
		if main then
			for _, conf in list.array(main.upstreams, ("ngx_%s_upstream_srv_conf_t *"):format(kind)) do
				if conf then found[#found + 1] = describe(t, kind, xcore.deref(conf)) end
			end
		end
	end
	return found
end

-- The availability of a peer, as a word; `now` in seconds since 1970.
function upstreams.state(peer, now)
	if peer.down then return "down" end
	local failed = peer.max_fails ~= 0 and peer.fails >= peer.max_fails
	if failed and now and now - peer.checked <= peer.fail_timeout then return "unavailable" end
	if peer.max_conns and peer.max_conns ~= 0 and peer.conns >= peer.max_conns then return "full" end
	return peer.backup and "backup" or "up"
end

return upstreams
