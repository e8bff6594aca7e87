-- replication.lua: the server's masters and replicas, as in INFO replication.
local xcore = require "xcore"
local adlist = require "redis.adlist"
local maybe = require "lib.maybe"
local names = require "redis.names"
local sds = require "redis.sds"

local replication = {}

-- REPL_STATE_… of server.h; the numbers differ between versions.
local LINK_STATES = { "none", "connect", "connecting", "receive_pong", "receive_ping_reply", "send_handshake", "send_auth",
	"receive_auth", "receive_auth_reply", "send_port", "receive_port", "receive_port_reply", "send_ip", "receive_ip",
	"receive_ip_reply", "send_capa", "receive_capa", "receive_capa_reply", "send_psync", "receive_psync",
	"receive_psync_reply", "transfer", "connected" }

local function link_state(t, s)
	for _, name in ipairs(LINK_STATES) do
		local known, number = pcall(t.eval, t, "REPL_STATE_" .. name:upper())
		if known and number == s.repl_state then return name end
	end
end

-- The link to the master; nil if the server is a master itself.
function replication.master(t)
	local s = t:var "server"
	if not s.masterhost then return nil end
	local peer = maybe.first(s, "master", "cached_master")
	local state = link_state(t, s)
	local up = s.master ~= nil
	return {
		host = xcore.str(s.masterhost), port = s.masterport, up = up, state = state,
		last_io = s.master and s.unixtime - s.master.lastinteraction or nil, offset = peer and peer.reploff,
		read_offset = peer and peer.read_reploff,
		down_for = not up and s.repl_down_since ~= 0 and s.unixtime - s.repl_down_since or nil,
		sync_total = state == "transfer" and s.repl_transfer_size or nil,
		sync_read = state == "transfer" and s.repl_transfer_read or nil,
	}
end

-- The address that a replica announced, else its peer address; ip:port, where the port has no meaning.
local function ip(t, client)
	local announced = maybe.get(client, "slave_addr") or maybe.get(client, "slave_ip")
	if announced then
		local text = xcore.str(announced)
		if text ~= "" then return text end
	end
	local peer = maybe.get(client, "peerid")
	return peer and sds.text(t, xcore.addr(peer), 256):match "^(.*):%d+$"
end

local function describe(t, client)
	local s = t:var "server"
	local state = names.REPLICA_STATES[client.replstate]
	return {
		id = client.id, ip = ip(t, client), port = client.slave_listening_port, state = state or tostring(client.replstate),
		offset = client.repl_ack_off, lag = state == "online" and s.unixtime - client.repl_ack_time or nil,
		behind = s.master_repl_offset - client.repl_ack_off,
	}
end

-- The replicas, and {bad, why} for unreadable ones.
function replication.replicas(t)
	return adlist.collect(t:var "server".slaves, "client *", function(client) return describe(t, client) end)
end

return replication
