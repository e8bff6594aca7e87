-- conn.lua: connections: which are in use, their purpose and their owner.
--
-- cycle->connections is an array; free ones are chained by `data`. The handler of the read event shows the purpose of
-- a connection in use. If its `data` leads to a request or a session, that begins with a signature:
--
--	ngx_http_request_t   | "HTTP" | connection | …        ngx_stream_session_t | "STRM" | connection | …
--
-- During a TLS handshake or shutdown, the event handlers are those of ngx_event_openssl.c; the same holds for a
-- handler that waits for a write during a read. c->ssl then keeps the real handlers.
local xcore = require "xcore"
local damage = require "lib.damage"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local layout = require "nginx.layout"
local luactx = require "nginx.luactx"
local maybe = require "lib.maybe"
local net = require "nginx.net"

local conn = {}

conn.HTTP, conn.STREAM = 0x50545448, 0x4d525453
local MOST = 16777216

-- Kinds by prefix of the read handler's name; the longest prefix counts. `request`: data is, or leads to, a request.
conn.KINDS = {
	ngx_event_accept = "listening", ngx_event_recvmsg = "listening", ngx_quic_recvmsg = "listening",
	ngx_channel_handler = "channel to the master",
	ngx_http_init_connection = "accepted", ngx_http_wait_request_handler = "accepted, no byte yet",
	ngx_http_ssl_handshake = "tls handshake", ngx_ssl_handshake_handler = "tls handshake", ngx_ssl_shutdown_handler = "tls shutdown",
	ngx_http_keepalive_handler = "keepalive", ngx_http_process_request_line = "reading request",
	ngx_http_process_request_headers = "reading request", ngx_http_request_handler = "request",
	ngx_http_lingering_close_handler = "lingering close", ngx_http_upstream_handler = "upstream",
	ngx_http_upstream_keepalive = "upstream keepalive", ngx_http_upstream_dummy_handler = "upstream",
	ngx_http_upstream_ssl_handshake = "upstream", ngx_http_v2 = "http2", ngx_http_v2_idle_handler = "http2, idle",
	ngx_http_v3 = "http3", ngx_quic = "quic", ngx_http_lua_socket_tcp = "cosocket", ngx_http_lua_socket_udp = "cosocket",
	ngx_http_lua_socket_keepalive = "cosocket, pooled", ngx_http_lua_socket_dummy_handler = "cosocket",
	ngx_http_lua_ssl_handshake_handler = "cosocket", ngx_http_lua_abort_pending_timers = "lua watcher",
	ngx_stream = "stream", ngx_stream_proxy_upstream_handler = "stream upstream", ngx_stream_lua_socket = "cosocket",
	ngx_mail = "mail", ngx_resolver = "resolver", ngx_thread_pool_handler = "thread pool", ngx_epoll = "epoll",
}

local function kind_of(name)
	if not name then return nil end
	local cut = name:gsub("%..*$", "") -- .constprop.0, .part.1
	while cut ~= "" do
		if conn.KINDS[cut] then return conn.KINDS[cut] end
		cut = cut:match "^(.*)_[^_]*$" or ""
	end
end

-- The names of a connection's event handlers; those that TLS has saved come first.
local function handlers(c)
	local read, write = maybe.get(c, "read.handler"), maybe.get(c, "write.handler")
	local saved_read, saved_write = maybe.get(c, "ssl.saved_read_handler"), maybe.get(c, "ssl.saved_write_handler")
	return func.name(saved_read or read), func.name(saved_write or write)
end

-- The free connections of the array: a table of indexes, their number, and any inconsistency of the free list.
local function free_ones(found, data)
	local free, count, at, why = {}, 0, found.first_free, nil
	while at ~= 0 do
		local index = (at - found.base) // found.size
		if at < found.base or index >= found.count or (at - found.base) % found.size ~= 0 then
			why = ("the list of free connections leads to %s, which is not a connection"):format(xcore.hex(at))
			break
		elseif free[index] then
			why = ("the list of free connections leads back to connection %d"):format(index)
			break
		end
		free[index], count, at = true, count + 1, data[index + 1]
	end
	if not why and count ~= found.told_free then
		why = ("the list of free connections has %d entries, but nginx counts %s"):format(count,
			xcore.u64(found.told_free))
	end
	return free, count, why
end

-- The array of connections: {base, size, count, read, write, event, free, free_count, why}; raises if there is none.
local function array_of(t)
	local of = cycle.of(t)
	local count, array = of.connection_n, of.connections
	if not array then
		error(xcore.error("not_found", ("this process has no connections: it is a %s"):format(cycle.role(t) or "process of unknown kind"),
			"nginx.cycle of the master lists its workers"))
	end
	if math.ult(MOST, count) then error(xcore.error("fault", ("the cycle has %s connections"):format(xcore.u64(count)))) end
	local found = { base = xcore.addr(array), size = xcore.sizeof "ngx_connection_t", count = count, array = array,
		first_free = maybe.addr(of, "free_connections"), told_free = of.free_connection_n,
		read = maybe.addr(of, "read_events"), write = maybe.addr(of, "write_events"), event = xcore.sizeof "ngx_event_t" }
	local columns = xcore.columns(array, count, { "data", "fd" })
	found.free, found.free_count, found.why = free_ones(found, columns.data)
	found.data, found.fd = columns.data, columns.fd
	return found
end

-- The array of connections, as read at the first call.
function conn.pool(t)
	conn.kept = conn.kept or array_of(t)
	return conn.kept
end

-- The kind of object at `data`: conn.HTTP, conn.STREAM, or something else; nil if it cannot be read.
local function signature(t, addr)
	if addr == 0 or t:readable(addr, 4) < 4 then return nil end
	return t:u32(addr)
end

-- The address of the request of a connection, from its data or an equivalent member; nil if there is none.
function conn.request_of(t, c)
	local data = maybe.addr(c, "data")
	if not data or data == 0 then return nil end
	if signature(t, data) == conn.HTTP then return data end
	if kind_of(handlers(c)) == "cosocket" and layout.has(t, "ngx_http_lua_socket_tcp_upstream_t") then
		local u = t:value("ngx_http_lua_socket_tcp_upstream_t", data)
		return (damage.try(maybe.addr, u, "request"))
	end
end

-- Milliseconds until the timer of an event; nil if it has none.
function conn.timer(event, now)
	if event == nil or event.timer_set == 0 or not now then return nil end
	return event.timer.key - now
end

-- The peers of connections that nginx opens. The owner of the sockaddr depends on the kind: {type, path of the peer},
-- or an item of a pool that contains the bytes.
local OWNERS = {
	upstream = { "ngx_http_request_t", "upstream.peer" }, ["stream upstream"] = { "ngx_stream_session_t", "upstream.peer" },
	["cosocket, pooled"] = { "ngx_http_lua_socket_pool_item_t" },
	["upstream keepalive"] = { "ngx_http_upstream_keepalive_cache_t" },
}

local function far_end(t, c, kind)
	local owner = OWNERS[kind]
	if kind == "cosocket" then return luactx.socket_peer(t, t:value("ngx_http_lua_socket_tcp_upstream_t", xcore.addr(c.data))) end
	if not owner or not c.data or not layout.has(t, owner[1]) then return nil end
	local v = t:value(owner[1], xcore.addr(c.data))
	if not owner[2] then return net.at(t, xcore.addr(v, "sockaddr"), v.socklen) end
	local peer = maybe.get(v, owner[2])
	if peer and maybe.addr(peer, "connection") == xcore.addr(c) then return net.peer(t, peer) end
end

-- The addresses of both ends: the peer, which for upstream connections is the backend, and the local one.
function conn.ends(t, c, kind)
	local peer, port = net.at(t, c.sockaddr, c.socklen)
	if not peer then peer, port = damage.try(far_end, t, c, kind) end
	local own = net.at(t, c.local_sockaddr, c.local_socklen)
	if not own and c.listening then own = net.at(t, c.listening.sockaddr, c.listening.socklen) end
	return peer, own, port
end

local function fake(t, c)
	local logs = func.name(maybe.get(c, "log.handler"))
	return logs and logs:find "^ngx_http_lua_log_timer" and "lua, no socket" or "no socket"
end

-- One connection: {index, addr, fd, kind, handler, write_handler, peer, own, port, age, requests, read_timer,
-- write_timer, request, accepted, reusable, ssl, sent, problems = {{text, hint}…}}. A wild pointer costs only the
-- data behind it.
function conn.describe(t, c, index, msec)
	local one = { index = index, addr = xcore.addr(c), fd = c.fd, value = c, problems = damage.problems() }
	local function part(what, fn, ...) return damage.part(one.problems, what, fn, ...) end
	local read, write = part("its handlers", handlers, c)
	one.handler, one.write_handler = read, write
	one.kind = kind_of(read) or (c.fd == -1 and part("its log", fake, t, c)) or (read and "other") or one.problems[1] and "damaged" or "unused"
	one.accepted = c.listening ~= nil and c.fd ~= -1 and part("its event", maybe.get, c, "read.accept") == 0 -- Lua's timers have a copy of `listening`
	one.peer, one.own, one.port = part("its ends", conn.ends, t, c, one.kind)
	local start = maybe.get(c, "start_time")
	if one.accepted and start and start ~= 0 and msec then one.age = (msec - start) / 1000 end
	one.requests, one.reusable, one.ssl, one.sent = c.requests, c.reusable ~= 0, (maybe.addr(c, "ssl") or 0) ~= 0, c.sent
	one.read_timer, one.write_timer = part("its event", conn.timer, c.read, msec), part("its event", conn.timer, c.write, msec)
	one.request = part("its request", conn.request_of, t, c)
	if one.kind == "http2" and c.data and signature(t, xcore.addr(c.data)) == conn.HTTP then one.kind = "http2 stream" end
	return one
end

-- All connections in use, by index, and {bad, why}: the number of unreadable ones, or why the list is incomplete.
function conn.all(t)
	local pool, msec = conn.pool(t), cycle.now(t)
	local list, lost = {}, { bad = 0 }
	for index = 0, pool.count - 1 do
		if not pool.free[index] and (pool.fd[index + 1] ~= -1 or pool.data[index + 1] ~= 0) then
			local one, why = damage.try(conn.describe, t, xcore.deref(pool.array + index), index, msec)
			list[#list + 1] = one
			local problem = one and one.problems[1]
			if problem then why = ("connection %d: %s: %s"):format(index, problem[1], problem[2]) end
			if not one or problem then lost.bad, lost.why = lost.bad + 1, lost.why or why end
		end
	end
	return list, lost
end

-- The connection of an event, from its place in the array of events or from its data; the low bit of data tells
-- instances of a reused slot apart. nil if it has none.
function conn.of_event(t, event)
	local pool, at, data = conn.pool(t), xcore.addr(event), maybe.addr(event, "data") & ~1
	local in_array = at >= pool.read and at < pool.read + pool.count * pool.event
		or at >= pool.write and at < pool.write + pool.count * pool.event
	local is_slot = data >= pool.base and data < pool.base + pool.count * pool.size and (data - pool.base) % pool.size == 0
	if in_array and is_slot then return xcore.deref(pool.array + (data - pool.base) // pool.size), (data - pool.base) // pool.size end
end

-- The counters of stub_status, shared by all workers; nil without that module.
function conn.stub_status(t)
	local counters, any = {}, false
	for _, name in ipairs { "accepted", "handled", "requests", "active", "reading", "writing", "waiting" } do
		local pointer = damage.try(cycle.var, t, "ngx_stat_" .. name, "ngx_atomic_t *")
		counters[name] = pointer and damage.try(xcore.deref, pointer)
		any = any or counters[name] ~= nil
	end
	return any and counters or nil
end

return conn
