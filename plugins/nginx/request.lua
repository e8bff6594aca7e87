-- request.lua: requests in flight: how they are found, and what each of them does.
--
-- Requests are found through connections in use (their data, upstream or cosocket), through streams of HTTP/2
-- connections, as subrequests, and by their signature: 0x50545448, "HTTP". A valid request that only its signature
-- led to no longer has an owner.
local xcore = require "xcore"
local damage = require "lib.damage"
local conn = require "nginx.conn"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local layout = require "nginx.layout"
local luactx = require "nginx.luactx"
local maybe = require "lib.maybe"
local net = require "nginx.net"
local phase = require "nginx.phase"
local str = require "nginx.str"

local request = {}

local MOST, MOST_STREAMS, MOST_BLOCKS, MOST_BLOCK = 100000, 65536, 100000, 1 << 30

-- ---- finding ----

-- Is a block of a pool valid? {at, last}; its end is the end of its allocation.
local function block_of(pool)
	local at, used, last = xcore.addr(pool), maybe.addr(pool, "d.last"), maybe.addr(pool, "d.end")
	if at < used and used <= last and last - at < MOST_BLOCK then return at, last end
end

-- A request is in its own pool: is an address in it? In a small pool it is a large allocation, like that of a Lua
-- timer.
local function in_pool(pool, addr)
	local large = pool.large
	for _ = 1, MOST_BLOCKS do
		if not pool then break end
		local at, last = block_of(pool)
		if not at then return false end
		if addr >= at and addr < last then return true end
		pool = pool.d.next
	end
	for _ = 1, MOST_BLOCKS do
		if not large then return false end
		if maybe.addr(large, "alloc") == addr then return true end
		large = large.next
	end
end

-- Is there a live request at an address? Its pool contains it, and its main request is its own main request.
function request.proved(t, addr)
	local r = t:value("ngx_http_request_t", addr)
	if r.signature ~= conn.HTTP or not r.pool or not r.connection or not r.main then return false end
	if r.main.signature ~= conn.HTTP or xcore.addr(r.main.main) ~= xcore.addr(r.main) then return false end
	return in_pool(r.pool, addr)
end

local function is_request(t, addr)
	local done, proved = pcall(request.proved, t, addr)
	return done and proved
end

-- The streams of an HTTP/2 connection: its index is a table of lists by stream id.
local function streams_of(t, c, add)
	if not c.data or not layout.has(t, "ngx_http_v2_connection_t") then return end
	local h2c = t:value("ngx_http_v2_connection_t", xcore.addr(c.data))
	if xcore.addr(h2c.connection) ~= xcore.addr(c) or not h2c.streams_index then return end
	local conf = t:value("ngx_http_conf_ctx_t", maybe.addr(h2c, "http_connection.conf_ctx"))
	local module = cycle.module(t, "ngx_http_v2_module")
	local mask = xcore.cast(conf.srv_conf[module.ctx_index], "ngx_http_v2_srv_conf_t *").streams_index_mask
	local given = 0
	for i = 0, math.min(mask, MOST_STREAMS) do
		local node = h2c.streams_index[i]
		while node and given < MOST_STREAMS do
			local r = maybe.get(node, "stream.request")
			if r then add(xcore.addr(r), "stream " .. node.id .. " of HTTP/2") end
			node, given = node.index, given + 1
		end
	end
end

local function subrequests(r, add)
	local at = maybe.get(r, "postponed")
	for _ = 1, 1000 do
		if not at then return end
		if at.request then add(xcore.addr(at.request), "subrequest") end
		at = at.next
	end
end

-- Requests that nothing else led to. The type's members that are always pointers are also checked: modules begin with
-- the same number.
local function by_signature(t, add)
	local what = { signature = conn.HTTP, connection = "pointer", main = "pointer", pool = "pointer", ctx = "pointer" }
	for addr in t:find { signature = { "ngx_http_request_t", what }, writable = true } do
		if is_request(t, addr) then add(addr, "signature") end
	end
end

-- The collector of addresses: each has the path that led to it first, followed by its subrequests and main request.
local function collector(t)
	local found = { list = {}, via = {} }
	function found.add(addr, via)
		if found.via[addr] or #found.list >= MOST then return end
		if not is_request(t, addr) then
			found.lost = (found.lost or 0) + 1
			return
		end
		found.via[addr] = via
		found.list[#found.list + 1] = addr
		local r = t:value("ngx_http_request_t", addr)
		if xcore.addr(r.main) ~= addr then found.add(xcore.addr(r.main), "main request of a subrequest") end
		pcall(subrequests, r, found.add)
	end
	return found
end

-- The connections in use; none and the reason if their array cannot be read: requests can be found without them. A
-- process without connections raises not_found.
local function connections(t)
	local done, all = pcall(conn.all, t)
	if done then return all end
	if not damage.of_memory(all) or all.kind == "not_found" then error(all, 0) end
	return {}, damage.message(all)
end

-- Addresses of all requests in the order found, the path to each by address, and {stray, connections}: the number of
-- pointers that led to none, and why the connections cannot be read. In a running process, memory is searched only if
-- `scan` is set.
function request.find(t, scan)
	local found = collector(t)
	local all, why = connections(t)
	for _, one in ipairs(all) do
		if one.request then found.add(one.request, "connection " .. one.index) end
		if one.kind:find "^http2" and t.u32 then pcall(streams_of, t, one.value, found.add) end
	end
	if scan or scan == nil and not t.live then by_signature(t, found.add) end
	return found.list, found.via, { stray = found.lost or 0, connections = why }
end

-- ---- description ----

-- Bytes of a pool's blocks, and the number of its large allocations.
local function pool_size(pool)
	local bytes, large, at = 0, 0, pool
	for _ = 1, MOST_BLOCKS do
		if not at then break end
		bytes, at = bytes + maybe.addr(at, "d.end") - xcore.addr(at), at.d.next
	end
	at = pool.large
	for _ = 1, MOST_BLOCKS do
		if not at then break end
		if at.alloc then large = large + 1 end
		at = at.next
	end
	return bytes, large
end

local UPSTREAM = {
	ngx_http_upstream_process_header = "waits for its header", ngx_http_upstream_process_upgraded = "upgraded",
	ngx_http_upstream_process_non_buffered_upstream = "reads its body", ngx_http_upstream_process_upstream = "reads its body",
	ngx_http_upstream_process_body_in_memory = "reads its body",
}

-- {peer, state, handler, tries, since, connected, sent, status}: the upstream of a request and its progress; nil
-- without upstream.
local function upstream_of(t, r, msec)
	local u = r.upstream
	if not u then return nil end
	local read = func.name(u.read_event_handler)
	local found = { value = u, handler = read, tries = u.peer.tries, peer = net.peer(t, u.peer),
		connected = u.peer.connection ~= nil, status = maybe.get(u, "headers_in.status_n") }
	local sent = u.request_sent ~= 0
	found.state = not found.connected and "has no connection" or not sent and "connects or sends"
		or UPSTREAM[read or ""] or "waits"
	local started = maybe.get(u, "start_time") or maybe.get(u, "peer.start_time")
	if started and started ~= 0 and msec then found.since = (msec - started) / 1000 end
	return found
end

-- Seconds since a request began, by nginx's cached time.
local function age_of(r, now)
	if not now or r.start_sec == 0 then return nil end
	local age = now - (r.start_sec + r.start_msec / 1000)
	return age < 0 and age > -1 and 0 or age -- in a running nginx the clock was read first
end

-- Phases in which Lua cannot wait: nginx sets them in the context only while Lua runs.
local AT_ONCE = { ["set"] = true, ["header filter"] = true, ["body filter"] = true, ["log"] = true, ["balancer"] = true }

local WRITING = { ngx_http_limit_req_delay = "delayed by limit_req", ngx_http_writer = "writes to the client" }

local function lua_doing(one)
	local coroutines = one.lua and one.lua.coroutines or {}
	for _, co in ipairs(coroutines) do
		if co.current then return "lua: runs" .. (co.kind == "handler" and "" or ", in a " .. co.kind) end
	end
	local handler = coroutines[1]
	return handler and handler.wait and "lua: " .. handler.wait
end

-- The current activity of a request, in a few words.
local function doing(one, r)
	if AT_ONCE[one.lua and one.lua.phase or ""] then return "lua: runs, in the " .. one.lua.phase end
	if one.done then return "finished" end
	if one.reading then return "reads the header" end
	local lua = lua_doing(one)
	if lua then return lua end
	local write = func.name(r.write_event_handler)
	if WRITING[write or ""] then return WRITING[write] end
	if r.reading_body ~= 0 or func.name(r.read_event_handler) == "ngx_http_read_client_request_body_handler" then
		return "reads the body"
	end
	if one.upstream then return ("upstream %s%s"):format(one.upstream.peer and one.upstream.peer .. " " or "", one.upstream.state) end
	if r.blocked ~= 0 then return "blocked by a thread or asynchronous file operation" end
	if one.fake then return "lua, no client" end
	return nil
end

-- One request: {addr, value, main, is_main, line, method, uri, host, status, phase, handler, age, subrequests, count,
-- upstream, lua, pool, pool_bytes, large, peer, fd, connection, doing, done, reading, writing, received, via,
-- problems = {{text, hint}…}}. A wild pointer costs only the data behind it.
function request.describe(t, addr, via)
	local r = t:value("ngx_http_request_t", addr)
	local msec, now = cycle.now(t)
	local one = { addr = addr, value = r, via = via, main = xcore.addr(r.main), count = r.count, done = r.done ~= 0,
		problems = damage.problems() }
	local function part(what, fn, ...) return damage.part(one.problems, what, fn, ...) end
	one.is_main = one.main == addr
	one.line, one.uri, one.method = str.try(r.request_line), str.try(r.uri), str.try(r.method_name, 64)
	one.host = str.try(part("its host", maybe.get, r, "headers_in.host.value"), 256) or str.try(maybe.get(r, "headers_in.server"), 256)
	local status = r.headers_out.status
	one.status = status ~= 0 and status or nil
	one.state, one.reading, one.writing = r.http_state, r.stat_reading == 1, r.stat_writing == 1
	one.phase, one.handler = part("its phase", phase.of, t, r)
	if one.reading then one.phase, one.handler = nil, nil end
	one.age, one.received = age_of(r, now), r.request_length
	one.pool, one.upstream = maybe.addr(r, "pool"), part("its upstream", upstream_of, t, r, msec)
	one.pool_bytes, one.large = part("its pool", pool_size, r.pool)
	one.lua = part("what Lua has for it", luactx.of, t, r)
	local c = r.connection
	one.connection, one.fd, one.fake = xcore.addr(c), c.fd, c.fd == -1 and (maybe.addr(r, "stream") or 0) == 0
	one.peer = part("its client", conn.ends, t, c)
	if one.fake then one.phase, one.handler = nil, nil end
	local lua_phase = one.lua and one.lua.phase
	if lua_phase and (one.fake or AT_ONCE[lua_phase] or one.lua.coroutines[1] and lua_phase ~= "content") then one.phase = lua_phase end
	one.doing = doing(one, r)
	return one
end

-- The number of subrequests of a main request, by its list of all requests.
local function count_subrequests(list)
	local counts = {}
	for _, one in ipairs(list) do
		if not one.is_main and not one.done then counts[one.main] = (counts[one.main] or 0) + 1 end
	end
	return counts
end

-- All requests, main ones oldest first with their subrequests after them, and {bad, why, stray, connections}.
function request.all(t, scan)
	local addresses, via, lost = request.find(t, scan)
	local list = {}
	lost.bad = 0
	for _, addr in ipairs(addresses) do
		local one, why = damage.try(request.describe, t, addr, via[addr])
		if one then list[#list + 1] = one else lost.bad, lost.why = lost.bad + 1, why end
	end
	local counts, ages = count_subrequests(list), {}
	for _, one in ipairs(list) do
		one.subrequests = one.is_main and (counts[one.addr] or 0) or 0
		if one.is_main then ages[one.addr] = one.age or -1 end
	end
	table.sort(list, function(a, b)
		local left, right = ages[a.main] or -1, ages[b.main] or -1
		if left ~= right then return left > right end
		if a.main ~= b.main then return math.ult(a.main, b.main) end
		if a.is_main ~= b.is_main then return a.is_main end
		return math.ult(a.addr, b.addr)
	end)
	return list, lost
end

return request
