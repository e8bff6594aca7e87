-- alarms.lua: the parts of the server's state that an engineer should see first.
local xcore = require "xcore"
local clients = require "redis.clients"
local maybe = require "lib.maybe"
local replication = require "redis.replication"
local server = require "redis.server"

local alarms = {}

local HUGE = 64 << 20 -- bytes of one key
local NEAR = 0.9      -- of a limit

local function mib(bytes)
	return ("%.1f MiB"):format(bytes / (1 << 20))
end

local function memory(t, s, section)
	local used, limit = server.used_memory(t), s.maxmemory
	if limit ~= 0 and used and used > NEAR * limit then
		section:warning(
			("memory is at %.0f %% of maxmemory (%s of %s)"):format(100 * used / limit, mib(used), mib(limit))
		)
	end
	local evicted = maybe.get(s, "stat_evictedkeys") or 0
	if evicted > 0 then section:warning("keys evicted because memory was full: " .. evicted) end
	local rss = maybe.get(s, "cron_malloc_stats.process_rss") or 0
	if used and used > 64 << 20 and rss > 1.5 * used then
		section:warning(("resident memory is %.1f times the memory in use: fragmentation"):format(rss / used))
	end
end

local function persistence(s, section)
	if s.loading ~= 0 then
		section:warning(("the server is loading data: %s of %s"):format(mib(s.loading_loaded_bytes),
			mib(s.loading_total_bytes)))
	end
	if maybe.get(s, "lastbgsave_status") == -1 then section:problem "the last RDB save failed" end
	if maybe.get(s, "aof_lastbgrewrite_status") == -1 then section:problem "the last rewrite of the AOF failed" end
	if s.aof_state ~= 0 and maybe.get(s, "aof_last_write_status") == -1 then
		section:problem "the last write to the AOF failed: writes are refused"
	end
	local child = maybe.get(s, "child_pid") or -1
	if child > 0 then section:note(("process %d is saving data"):format(child)) end
end

local LIMITS = { normal = 0, replica = 1, pubsub = 2 }

-- Is the output of a client near its hard limit or above its soft limit?
local function output_limit(s, client, section)
	local limits = LIMITS[client.class] and s.client_obuf_limits[LIMITS[client.class]]
	if not limits then return end
	local who = ("client %s (%s)"):format(xcore.u64(client.id), client.addr or client.name)
	local hard = limits.hard_limit_bytes
	if hard ~= 0 and client.omem > NEAR * hard then
		section:problem(("%s has %s of pending output, near the limit of %s"):format(who, mib(client.omem), mib(hard)))
	elseif client.soft_limit_since ~= 0 then
		section:warning(("%s has exceeded the soft limit of its output buffer for %d s"):format(who,
			s.unixtime - client.soft_limit_since))
	elseif client.omem > HUGE then
		section:warning(("%s has %s of pending output"):format(who, mib(client.omem)))
	end
end

local function connections(t, s, section)
	local blocked, postponed = 0, 0
	for _, client in ipairs((clients.all(t))) do
		output_limit(s, client, section)
		if client.wait then
			if client.wait.on == "postponed" then postponed = postponed + 1 else blocked = blocked + 1 end
		end
	end
	if blocked > 0 then section:note("clients blocked: " .. blocked, "redis.blocked shows what they wait for") end
	if postponed > 0 then section:warning("clients postponed by CLIENT PAUSE or a failover: " .. postponed) end
	local rejected = maybe.get(s, "stat_rejected_conn") or 0
	if rejected > 0 then
		section:warning(("connections refused: %d; maxclients is %d"):format(rejected, s.maxclients))
	end
end

local function link(t, section)
	local master = replication.master(t)
	if master and not master.up then
		section:problem(("the link to the master %s:%d is down%s (%s)"):format(master.host, master.port,
			master.down_for and (" for %d s"):format(master.down_for) or "", master.state or "?"))
	end
	for _, replica in ipairs((replication.replicas(t))) do
		if replica.state ~= "online" then
			section:warning(("replica %s is not online: %s"):format(replica.ip or xcore.u64(replica.id), replica.state))
		end
	end
end

-- Adds notes on the state of the server.
function alarms.server(t, section)
	local s = t:var "server"
	memory(t, s, section)
	persistence(s, section)
	connections(t, s, section)
	link(t, section)
	if maybe.get(s, "cluster_enabled") == 1 and s.cluster and s.cluster.state ~= 0 then
		section:problem "the cluster is down for this node"
	end
end

-- Adds a note on a huge key.
function alarms.key(section, name, bytes)
	if bytes < HUGE then return end
	section:warning(("%s takes %s: its deletion, and commands on the whole of it, block the server"):format(name,
		mib(bytes)))
end

return alarms
