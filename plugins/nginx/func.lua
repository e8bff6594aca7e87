-- func.lua: names of functions. In a stripped program, functions are identified by their use: the read event handler
-- of a connection that belongs to the upstream of its request is ngx_http_upstream_handler, whatever its address.
--
-- Each rule inspects one object and names its functions. The first rule that names an address counts.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"

local func = {}

local HTTP, STREAM = 0x50545448, 0x4d525453
local MOST, MOST_ROWS = 1000000, 1000
local PROCESSING, READING = 2, 1 -- r->http_state
local DELAYED = 2 -- r->limit_req_status

local learned

local function say(pointer, name)
	local at = pointer and xcore.addr(pointer)
	if at and at ~= 0 and not learned[at] and not xcore.symbol(pointer) then learned[at] = name end
end

local function both(c, read, write)
	say(maybe.get(c, "read.handler"), read)
	say(maybe.get(c, "write.handler"), write or read)
end

local function is(t, pointer, member, wanted)
	return pointer and damage.try(maybe.addr, pointer, member) == wanted
end

-- ---- connections ----

local function of_request_itself(c, r)
	if c.fd == -1 then
		if (maybe.addr(r, "stream") or 0) == 0 then say(maybe.get(c, "log.handler"), "ngx_http_lua_log_timer_error") end
	elseif (maybe.addr(r, "stream") or 0) ~= 0 then
		say(maybe.get(c, "read.handler"), "ngx_http_v2_close_stream_handler")
	elseif r.http_state == READING or r.stat_reading ~= 0 then
		say(maybe.get(c, "read.handler"), r.request_line.data and "ngx_http_process_request_headers" or "ngx_http_process_request_line")
	elseif r.http_state >= PROCESSING then
		both(c, "ngx_http_request_handler")
	end
end

local function of_http(t, c, data)
	local r = t:value("ngx_http_request_t", data)
	local at = xcore.addr(c)
	if is(t, maybe.get(r, "upstream"), "peer.connection", at) then
		both(c, "ngx_http_upstream_handler")
	elseif maybe.addr(r, "connection") == at or c.fd ~= -1 and c.listening then
		of_request_itself(c, r)
	end
end

local function of_stream(t, c, data)
	local s = t:value("ngx_stream_session_t", data)
	if is(t, maybe.get(s, "upstream"), "peer.connection", xcore.addr(c)) then
		both(c, "ngx_stream_proxy_upstream_handler")
	else
		both(c, "ngx_stream_proxy_downstream_handler")
	end
end

-- The type of a connection's data without a signature, from pointers that lead back to the connection.
local function of_lua(t, c, data)
	if not layout.has(t, "ngx_http_lua_socket_tcp_upstream_t") then return false end
	local at, u = xcore.addr(c), t:value("ngx_http_lua_socket_tcp_upstream_t", data)
	if is(t, u, "peer.connection", at) and is(t, u, "request.signature", HTTP) ~= nil and t:u32(maybe.addr(u, "request")) == HTTP then
		both(c, "ngx_http_lua_socket_tcp_handler")
		return true
	elseif is(t, t:value("ngx_http_lua_socket_pool_item_t", data), "connection", at) then
		both(c, "ngx_http_lua_socket_keepalive_rev_handler", "ngx_http_lua_socket_keepalive_dummy_handler")
		return true
	end
end

local function of_http2(t, c, data)
	local h2c = t:value("ngx_http_v2_connection_t", data)
	if not is(t, h2c, "connection", xcore.addr(c)) then return false end
	both(c, h2c.processing == 0 and "ngx_http_v2_idle_handler" or "ngx_http_v2_read_handler", "ngx_http_v2_write_handler")
	return true
end

-- A client connection between requests: its data is an ngx_http_connection_t, which has the local address.
local function of_client(t, c, data)
	local http, hc = cycle.block(t, "http"), t:value("ngx_http_connection_t", data)
	if not c.listening or not http or maybe.addr(hc, "conf_ctx.main_conf") ~= xcore.addr(http.main_conf) then return false end
	local ssl = maybe.get(c, "ssl")
	if ssl and ssl.handshaked == 0 then
		both(c, "ngx_ssl_handshake_handler")
	else
		say(maybe.get(c, "read.handler"), c.requests == 0 and "ngx_http_wait_request_handler" or "ngx_http_keepalive_handler")
	end
	return true
end

local OF_DATA = { of_lua, of_http2, of_client }

local function of_connection(t, c)
	local data = maybe.addr(c, "data")
	local signature = data ~= 0 and t:readable(data, 4) == 4 and t:u32(data)
	if not signature then return end
	if signature == HTTP then return of_http(t, c, data) end
	if signature == STREAM then return of_stream(t, c, data) end
	for _, rule in ipairs(OF_DATA) do
		local done, known = pcall(rule, t, c, data)
		if done and known then return end
	end
end

local function of_connections(t)
	local of, channel = cycle.of(t), cycle.var(t, "ngx_channel", "ngx_socket_t")
	for i = 0, math.min(of.connection_n, MOST) - 1 do
		local c = xcore.deref(of.connections + i)
		if channel and channel > 0 and c.fd == channel then say(maybe.get(c, "read.handler"), "ngx_channel_handler") end
		if maybe.get(c, "read.accept") == 1 and c.fd ~= -1 then say(c.read.handler, "ngx_event_accept") end
		pcall(of_connection, t, c)
	end
end

-- ---- holders of connections ----

local function of_watcher(conf)
	if conf and maybe.get(conf, "watcher") then both(conf.watcher, "ngx_http_lua_abort_pending_timers") end
end

-- Idle connections to a group of backends: their data is the item in the group's queue.
local function of_idle(t)
	local main = cycle.main_conf(t, "http", "ngx_http_upstream_module", "ngx_http_upstream_main_conf_t")
	local module = cycle.module(t, "ngx_http_upstream_keepalive_module")
	for _, conf in list.array(main.upstreams, "ngx_http_upstream_srv_conf_t *") do
		local own = conf and conf.srv_conf and conf.srv_conf[module.ctx_index]
		own = own and xcore.cast(own, "ngx_http_upstream_keepalive_srv_conf_t *")
		if own and own.max_cached > 0 and own.original_init_upstream then say(conf.peer.init_upstream, "ngx_http_upstream_init_keepalive") end
		for item in list.queue(own and own.max_cached > 0 and own.cache or nil, "ngx_http_upstream_keepalive_cache_t", "queue") do
			both(item.connection, "ngx_http_upstream_keepalive_close_handler", "ngx_http_upstream_keepalive_dummy_handler")
		end
	end
end

-- ---- requests ----

local function of_upstream(r)
	local u = r.upstream
	if not u or u.request_sent == 0 then return end
	if maybe.get(u, "headers_in.status_n") == 0 then
		say(u.read_event_handler, "ngx_http_upstream_process_header")
	elseif u.buffering ~= 0 then
		say(u.read_event_handler, "ngx_http_upstream_process_upstream")
	end
end

local function of_writing(r)
	if r.limit_req_status == DELAYED and maybe.get(r, "connection.write.delayed") == 1 then
		say(r.write_event_handler, "ngx_http_limit_req_delay")
	elseif r.header_sent ~= 0 and r.out and r.http_state >= PROCESSING then
		say(r.write_event_handler, "ngx_http_writer")
	end
end

-- The cleanup function that would end a coroutine's wait, and its timer.
local function of_coroutine(t, r, co)
	local at = xcore.addr(co)
	local queue = xcore.addr(xcore.ref(co, "sem_wait_queue"))
	local next = t:ptr(queue + t.pointer_size)
	local queued = next ~= 0 and t:readable(next, 8) == 8 and t:ptr(next) == queue
	if co.sleep.timer_set ~= 0 then
		say(co.sleep.handler, queued and "ngx_http_lua_sema_timeout_handler" or "ngx_http_lua_sleep_handler")
		say(co.cleanup, queued and "ngx_http_lua_sema_cleanup" or "ngx_http_lua_sleep_cleanup")
		return
	end
	local data = maybe.addr(co, "data")
	local u = data ~= 0 and t:value("ngx_http_lua_socket_tcp_upstream_t", data)
	if u and (is(t, u, "read_co_ctx", at) or is(t, u, "write_co_ctx", at)) then
		say(co.cleanup, "ngx_http_lua_coctx_cleanup")
	elseif r.reading_body ~= 0 or (maybe.get(r, "request_body.rest") or 0) > 0 then
		say(co.cleanup, "ngx_http_lua_req_body_cleanup")
	end
end

local function of_request(t, addr)
	local r = t:value("ngx_http_request_t", addr)
	pcall(of_upstream, r)
	pcall(of_writing, r)
	local lua = require("nginx.luactx").of(t, r)
	for _, one in ipairs(lua and lua.coroutines or {}) do
		pcall(of_coroutine, t, r, t:value("ngx_http_lua_co_ctx_t", one.addr))
	end
end

-- ---- timers ----

local function of_timers(t, conf)
	local tree = cycle.var(t, "ngx_event_timer_rbtree", "ngx_rbtree_t")
	local own = conf and xcore.addr(conf)
	for event in list.rbtree(tree, "ngx_event_t", "timer") do
		local data = maybe.addr(event, "data")
		local ctx = own and data ~= 0 and t:value("ngx_http_lua_timer_ctx_t", data)
		if ctx and is(t, ctx, "lmcf", own) and damage.try(maybe.addr, ctx, "co") ~= 0 then say(event.handler, "ngx_http_lua_timer_handler") end
	end
end

-- ---- configuration ----

-- The nginx modules that add one handler each to a phase: the array has them in the order of modules.
local PHASES = { [0] = "realip", "rewrite", nil, "rewrite", nil, "realip limit_conn limit_req degradation", "access auth_basic auth_request", nil,
	"try_files mirror", "index random_index autoindex dav gzip_static static", "log" }

-- The unnamed handlers of a phase, and its modules without a named handler: if both have the same number, they
-- correspond in order.
local function of_phase(t, handlers, modules, wanted)
	local unnamed, left, have = {}, {}, {}
	for _, handler in list.array(handlers, "ngx_http_handler_pt") do
		local name = xcore.symbol(handler)
		if name then have[name] = true else unnamed[#unnamed + 1] = handler end
	end
	for _, module in ipairs(modules) do
		local short = module.name:match "^ngx_http_(.*)_module$"
		local name = ("ngx_http_%s_handler"):format(short)
		if short and (" " .. wanted .. " "):find(" " .. short .. " ", 1, true) and not have[name] then left[#left + 1] = name end
	end
	for i, handler in ipairs(#unnamed == #left and unnamed or {}) do say(handler, left[i]) end
end

local function of_phases(t)
	local main = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t")
	local modules = cycle.modules(t)
	for i = 0, main and #main.phases - 1 or -1 do
		if PHASES[i] then damage.try(of_phase, t, main.phases[i].handlers, modules, PHASES[i]) end
	end
end

-- Checkers of the engine's rows, by the phase of the row's handler; three rows have no handler and are in the order
-- of phases.
local CHECKERS = { [0] = "generic", "rewrite", nil, "rewrite", nil, "generic", "access", nil, "generic", "content" }
local REWRITE, ACCESS, CONTENT = 3, 6, 9

local function of_checkers(t)
	local main = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t")
	local by_handler, bare = {}, { "find_config" }
	for i = 0, CONTENT do
		for _, handler in list.array(main.phases[i].handlers, "ngx_http_handler_pt") do by_handler[xcore.addr(handler)] = CHECKERS[i] end
	end
	if main.phases[REWRITE].handlers.nelts > 0 then bare[#bare + 1] = "post_rewrite" end
	if main.phases[ACCESS].handlers.nelts > 0 then bare[#bare + 1] = "post_access" end
	for i = 0, MOST_ROWS do
		local row = main.phase_engine.handlers[i]
		if not row.checker then break end
		local phase = row.handler and by_handler[xcore.addr(row.handler)] or not row.handler and table.remove(bare, 1)
		if phase then say(row.checker, ("ngx_http_core_%s_phase"):format(phase)) end
	end
end

-- A location that passes requests: the conf of its module begins with an ngx_http_upstream_conf_t, which has the
-- upstream.
local PASSES = { "proxy", "fastcgi", "uwsgi", "scgi", "grpc", "memcached" }

local function of_locations(t)
	local conf = require "nginx.conf"
	local modules = {}
	for _, kind in ipairs(PASSES) do modules[kind] = cycle.module(t, ("ngx_http_%s_module"):format(kind)) end
	for _, server in ipairs(conf.servers(t, { listens = {}, names = {} }) or {}) do
		for _, location in ipairs(server.locations or {}) do
			for kind, module in pairs(location.value.handler and modules or {}) do
				local own = location.value.loc_conf[module.ctx_index]
				if own and xcore.cast(own, "ngx_http_upstream_conf_t *").upstream then
					say(location.value.handler, ("ngx_http_%s_handler"):format(kind))
				end
			end
		end
	end
end

-- ---- all ----

local function learn(t)
	local conf = layout.has(t, "ngx_http_lua_main_conf_t")
		and damage.try(cycle.main_conf, t, "http", "ngx_http_lua_module", "ngx_http_lua_main_conf_t") or nil
	damage.try(of_watcher, conf)
	damage.try(of_idle, t)
	damage.try(of_connections, t)
	damage.try(of_phases, t)
	damage.try(of_checkers, t)
	damage.try(of_locations, t)
	damage.try(of_timers, t, conf)
	local request = require "nginx.request"
	for _, addr in ipairs(damage.try(request.find, t) or {}) do damage.try(of_request, t, addr) end
end

-- The name of a function, from xcore.symbol or from the rules; nil if it is unknown.
function func.name(v)
	local name = xcore.symbol(v)
	if name or v == nil then return name end
	local t = xcore.target
	if not learned then
		learned = {}
		if layout.known(t) and layout.declare(t) then damage.try(learn, t) end
	end
	return learned[type(v) == "number" and v or xcore.addr(v)]
end

-- The same as display text: the address of an unnamed function; nil for NULL.
function func.text(v)
	return func.name(v) or v ~= nil and xcore.hex(type(v) == "number" and v or xcore.addr(v)) or nil
end

return func
