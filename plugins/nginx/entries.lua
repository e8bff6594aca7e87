-- entries.lua: the contents of zones of limit_req, limit_conn, caches, TLS sessions and upstreams (nginx 1.22; by
-- member names).
--
-- Nodes of limit_req and limit_conn overlay an ngx_rbtree_node_t from its `color`, as in shdict.lua:
--
--	ngx_http_limit_req_node_t  | color | dummy | len | queue | last | excess (thousandths of a request) | count | key … |
--	ngx_http_limit_conn_node_t | color | len | conn | key … |
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local str = require "nginx.str"
local upstreams = require "nginx.upstreams"
local zones = require "nginx.zones"

local entries = {}

local MOST = 1000000

local function prefix_of(zone)
	return zone.module:gsub("_module$", "")
end

-- The shared part of a zone's context: its member `sh`; nil if it is unavailable.
local function shared(t, zone, type)
	local context = zones.context(t, zone, type)
	return context and context.sh and xcore.deref(context.sh), context
end

local function seconds_since(msec, now)
	return now and msec and (now - msec) / 1000
end

-- Keys may be binary addresses ($binary_remote_addr): four bytes that are not text are shown as an IPv4 address.
function entries.key_text(bytes)
	if #bytes == 4 and bytes:find "[^%g]" then return ("%d.%d.%d.%d"):format(bytes:byte(1, 4)) end
	return bytes
end

-- For each kind: summary(t, zone, section) adds fields, rows(t, zone, section, limit) adds a table.

local limit_req = { columns = { { "key", "text", secret = true }, { "excess", "number", label = "EXCESS, REQUESTS" },
	{ "seen", "seconds", label = "LAST SEEN" }, { "waiting", "count" } } }

function limit_req.all(t, zone)
	local type = prefix_of(zone) .. "_node_t"
	local sh, context = shared(t, zone, prefix_of(zone) .. "_ctx_t")
	if not sh then return nil end
	local columns, count, why = zones.queue(sh.queue, type, "queue", { "len", "last", "excess", "count" })
	return columns, count, why, context, xcore.offsetof(type, "data")
end

function limit_req.count(t, zone)
	local _, count = limit_req.all(t, zone)
	return count
end

function limit_req.show(t, zone, section, limit)
	local columns, count, why, context, data = limit_req.all(t, zone)
	if not columns then return section:unknown("entries", "the types of this module are unknown") end
	section:number("rate", context.rate / 1000, { label = "rate, requests a second" })
	local rows, now = section:table("keys", limit_req.columns), (cycle.now(t))
	for i = 1, math.min(count, limit) do
		rows:row(entries.key_text(t:read(columns[1][i] + data, columns.len[i])), columns.excess[i] / 1000,
			seconds_since(columns.last[i], now), columns.count[i])
	end
	return count, why
end

local limit_conn = { columns = { { "key", "text", secret = true }, { "connections", "count" } } }

-- Trees without a queue: nodes are counted by a walk; since 1.11.? each module has its own.
function limit_conn.all(t, zone)
	local type = prefix_of(zone) .. "_node_t"
	local sh, context = shared(t, zone, prefix_of(zone) .. "_ctx_t")
	local tree = sh and maybe.get(sh, "rbtree") or context and maybe.get(context, "rbtree")
	if not tree then return nil end
	local found, back = {}, xcore.offsetof("ngx_rbtree_node_t", "color")
	for node in list.rbtree(tree, "ngx_rbtree_node_t", "key") do
		if #found == MOST then break end
		found[#found + 1] = t:value(type, xcore.addr(node) + back)
	end
	return found, xcore.offsetof(type, "data")
end

function limit_conn.count(t, zone)
	local found = limit_conn.all(t, zone)
	return found and #found
end

function limit_conn.show(t, zone, section, limit)
	local found, data = limit_conn.all(t, zone)
	if not found then return section:unknown("entries", "the types of this module are unknown") end
	table.sort(found, function(a, b)
		if a.conn ~= b.conn then return a.conn > b.conn end
		return xcore.addr(a) < xcore.addr(b)
	end)
	local rows = section:table("keys", limit_conn.columns)
	for i = 1, math.min(#found, limit) do
		rows:row(entries.key_text(t:read(xcore.addr(found[i]) + data, found[i].len)), found[i].conn)
	end
	return #found
end

-- Caches of responses (ngx_http_cache.h): of the 16 MD5 bytes of a key, the first 8 are the tree key of the node, the
-- others are in `key`.
local cache = { columns = { { "key", "text", label = "MD5 OF THE KEY" }, { "size", "bytes" }, { "uses", "count" }, { "in_use", "count" },
	{ "expires_in", "seconds", label = "KEPT FOR" }, { "state", "text" } } }

function cache.all(t, zone)
	local sh = shared(t, zone, "ngx_http_file_cache_t")
	if not sh then return nil end
	local columns, count, why = zones.queue(sh.queue, "ngx_http_file_cache_node_t", "queue",
		{ "node.key", "fs_size", "uses", "count", "expire", "exists", "updating", "deleting" })
	return columns, count, why, sh
end

function cache.count(t, zone)
	local _, count = cache.all(t, zone)
	return count
end

-- The name of its file: the full MD5 in hexadecimal.
local function md5_of(t, at, key)
	local rest = t:read(at + xcore.offsetof("ngx_http_file_cache_node_t", "key"), 8)
	local first = (t.endian == "big" and ">I8" or "<I8"):pack(key)
	return ((first .. rest):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

function cache.show(t, zone, section, limit)
	local columns, count, why, sh = cache.all(t, zone)
	if not columns then return section:unknown("entries", "the types of this module are unknown") end
	local context, _, now = zones.context(t, zone, "ngx_http_file_cache_t"), cycle.now(t)
	section:text("path", str.try(maybe.get(context, "path.name")))
	section:bytes("on_disk", sh.size * context.bsize)
	section:bytes("max_size", context.max_size < (1 << 50) and context.max_size * context.bsize or nil)
	section:bool("loading", sh.cold ~= 0, { label = "loading from disk" })
	local rows = section:table("keys", cache.columns)
	for i = 1, math.min(count, limit) do
		local state = columns.deleting[i] ~= 0 and "deleting" or columns.updating[i] ~= 0 and "updating"
			or columns.exists[i] ~= 0 and "stored" or "only counted"
		rows:row(md5_of(t, columns[1][i], columns["node.key"][i]), columns.fs_size[i] * context.bsize, columns.uses[i], columns.count[i],
			now and columns.expire[i] - now, state)
	end
	return count, why
end

local sessions = { columns = { { "id", "text", secret = true }, { "size", "bytes" }, { "expires_in", "seconds" } } }

function sessions.all(t, zone)
	local pool = t:value("ngx_slab_pool_t", zone.addr)
	if pool.data == nil or not layout.has(t, "ngx_ssl_session_cache_t") then return nil end
	local cache_of = t:value("ngx_ssl_session_cache_t", xcore.addr(pool.data))
	return zones.queue(cache_of.expire_queue, "ngx_ssl_sess_id_t", "queue", { "len", "expire" })
end

function sessions.count(t, zone)
	local _, count = sessions.all(t, zone)
	return count
end

function sessions.show(t, zone, section, limit)
	local columns, count, why = sessions.all(t, zone)
	if not columns then return section:unknown("entries", "the types of this module are unknown") end
	local rows, _, now = section:table("keys", sessions.columns), cycle.now(t)
	for i = 1, math.min(count, limit) do
		local one = t:value("ngx_ssl_sess_id_t", columns[1][i])
		local id = one.id and t:read(xcore.addr(one.id), math.min(32, maybe.get(one, "id_len") or 32)) or ""
		rows:row((id:gsub(".", function(c) return ("%02x"):format(c:byte()) end)), columns.len[i], now and columns.expire[i] - now)
	end
	return count, why
end

-- Backends of the groups in this zone (ngx_http_upstream_zone_module.c): several groups may share one zone.
local upstream = { columns = { { "upstream", "text" }, { "peer", "text" }, { "connections", "count" }, { "fails", "count" },
	{ "state", "text" } } }

function upstream.all(t, zone)
	local found, kind = {}, zone.module:match "^ngx_(%l+)_"
	for _, one in ipairs(upstreams.all(t)) do
		for _, peer in ipairs(one.kind == kind and one.zone == zone.name and one.peers or {}) do
			found[#found + 1] = { upstream = one.name, peer = peer }
		end
	end
	return found
end

function upstream.count(t, zone)
	return #upstream.all(t, zone)
end

function upstream.show(t, zone, section, limit)
	local found, _, now = upstream.all(t, zone), cycle.now(t)
	local rows = section:table("peers", upstream.columns)
	for i = 1, math.min(#found, limit) do
		local one = found[i]
		rows:row(one.upstream, one.peer.name, one.peer.conns, one.peer.fails, upstreams.state(one.peer, now))
	end
	return #found
end

entries.KINDS = { limit_req = limit_req, limit_conn = limit_conn, cache = cache, ["ssl sessions"] = sessions, upstream = upstream }

-- The number of entries of a zone; nil and the reason if it is unknown.
function entries.count(t, zone)
	local kind = entries.KINDS[zone.kind]
	if not kind then return nil end
	return damage.try(kind.count, t, zone)
end

return entries
