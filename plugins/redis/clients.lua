-- clients.lua: the connections, as in CLIENT LIST (networking.c, catClientInfoString), and the objects they wait for.
local xcore = require "xcore"
local adlist = require "redis.adlist"
local alloc = require "redis.alloc"
local dict = require "redis.dict"
local maybe = require "lib.maybe"
local names = require "redis.names"
local object = require "redis.object"
local sds = require "redis.sds"

local clients = {}

local FLAG = names.CLIENT
local LONGEST = 256 -- bytes of a name or address

local function text(t, value)
	return value and (sds.text(t, xcore.addr(value), LONGEST)) or nil
end

-- The class of client-output-buffer-limit: normal, replica, pubsub or master.
local function class(flags)
	if flags & FLAG.MASTER ~= 0 then return "master" end
	if flags & FLAG.REPLICA ~= 0 and flags & FLAG.MONITOR == 0 then return "replica" end
	return flags & FLAG.PUBSUB ~= 0 and "pubsub" or "normal"
end

-- The part of the shared replication buffer not yet sent to a replica: blocks and bytes.
local function shared_buffer(t, client)
	local node = maybe.get(client, "ref_repl_buf_node")
	local blocks = maybe.get(t:var "server", "repl_buffer_blocks")
	if not node or not blocks or not blocks.tail then return 0, 0 end
	local first = xcore.cast(node.value, "replBufBlock *")
	local last = xcore.cast(blocks.tail.value, "replBufBlock *")
	local count = last.id - first.id + 1
	local each = xcore.sizeof("listNode") + xcore.sizeof("replBufBlock")
	return count, last.repl_offset + last.size - first.repl_offset + count * each
end

-- Pending output blocks of a client beyond its fixed buffer, and their bytes.
local function output(t, client, kind)
	local shared, shared_bytes = shared_buffer(t, client)
	local queued = adlist.length(client.reply)
	if kind == "replica" then return queued + shared, shared_bytes end
	local each = xcore.sizeof("listNode") + xcore.sizeof("clientReplyBlock")
	return queued + shared, client.reply_bytes + each * queued
end

local function table_bytes(t, d)
	if not d then return 0 end
	return dict.used(d) * xcore.sizeof("dictEntry") + dict.slots(d) * t.pointer_size
end

local function transaction_bytes(t, client)
	local watched = adlist.length(client.watched_keys) *
		(xcore.sizeof("listNode") + (t:has_type("watchedKey") and xcore.sizeof("watchedKey") or 0))
	return (maybe.get(client, "mstate.argv_len_sums") or 0) + watched +
		(maybe.get(client, "mstate.alloc_count") or 0) * xcore.sizeof("multiCmd")
end

local function subscription_bytes(t, client)
	return adlist.length(maybe.get(client, "pubsub_patterns")) * xcore.sizeof("listNode") +
		table_bytes(t, client.pubsub_channels) + table_bytes(t, maybe.get(client, "pubsubshard_channels"))
end

local function total_bytes(t, found, client, output_bytes)
	local total = output_bytes + found.size(xcore.addr(client), xcore.sizeof("client")) +
		(maybe.get(client, "buf_usable_size") or 0) + (maybe.get(client, "argv_len_sum") or 0) + client.argc * t.pointer_size
	if client.querybuf then total = total + found.sds(xcore.addr(client.querybuf)) end
	return total + transaction_bytes(t, client) + subscription_bytes(t, client)
end

function clients.command_name(t, command)
	if not command then return nil end
	if xcore.has(command, "fullname") then return text(t, command.fullname) end
	return xcore.str(maybe.first(command, "name", "declared_name"))
end

local function size_of_dict(client, name)
	local d = maybe.get(client, name)
	return d and dict.used(d) or 0
end

local function query(t, client)
	if not client.querybuf then return 0, 0 end
	local len, capacity = sds.header(t, xcore.addr(client.querybuf))
	return len, capacity and capacity - len or 0
end

local function events(client)
	local conn = client.conn
	if not conn then return "" end
	return (conn.read_handler and "r" or "") .. (conn.write_handler and "w" or "")
end

-- The wait of a blocked client: {on, keys, timeout}: the names of the keys, the timeout in ms since 1970, 0 for none.
local function waiting(t, client)
	local state = maybe.first(client, "bstate", "bpop")
	local kind = maybe.first(client, "bstate.btype", "btype")
	local wait = {
		on = names.BLOCKED[kind] or ("kind " .. tostring(kind)),
		timeout = maybe.get(state, "timeout") or 0,
		keys = {},
	}
	local d = maybe.get(state, "keys")
	if d then
		dict.walk(t, d, function(key)
			wait.keys[#wait.keys + 1] = object.quoted(object.text(t, key, LONGEST))
			return #wait.keys < 16
		end)
		table.sort(wait.keys)
	end
	return wait
end

local function describe(t, found, client)
	local server, flags = t:var "server", client.flags
	local kind = class(flags)
	local blocks, output_bytes = output(t, client, kind)
	local length, free = query(t, client)
	return {
		at = xcore.addr(client), id = client.id, class = kind, flags = names.client_flags(flags),
		blocked = flags & FLAG.BLOCKED ~= 0, in_multi = flags & FLAG.MULTI ~= 0,
		addr = text(t, maybe.get(client, "peerid")), laddr = text(t, maybe.get(client, "sockname")),
		fd = maybe.first(client, "conn.fd", "fd"), name = object.text(t, client.name, LONGEST) or "",
		age = server.unixtime - client.ctime, idle = server.unixtime - client.lastinteraction,
		db = client.db and client.db.id, sub = size_of_dict(client, "pubsub_channels"),
		psub = adlist.length(maybe.get(client, "pubsub_patterns")), ssub = size_of_dict(client, "pubsubshard_channels"),
		multi = flags & FLAG.MULTI ~= 0 and client.mstate.count or -1, qbuf = length, qbuf_free = free,
		argv_mem = maybe.get(client, "argv_len_sum"), multi_mem = maybe.get(client, "mstate.argv_len_sums"),
		rbs = maybe.get(client, "buf_usable_size"), rbp = maybe.get(client, "buf_peak"), obl = client.bufpos,
		oll = blocks, omem = output_bytes, tot_mem = total_bytes(t, found, client, output_bytes), events = events(client),
		cmd = clients.command_name(t, client.lastcmd), user = text(t, maybe.get(client, "user.name")),
		resp = maybe.get(client, "resp"), wait = flags & FLAG.BLOCKED ~= 0 and waiting(t, client) or nil,
		soft_limit_since = maybe.get(client, "obuf_soft_limit_reached_time") or 0,
	}
end

-- All clients in the server's order, and {bad, why} for unreadable ones.
function clients.all(t)
	local found = alloc.of(t)
	return adlist.collect(t:var "server".clients, "client *", function(client) return describe(t, found, client) end)
end

return clients
