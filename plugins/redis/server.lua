-- server.lua: the fields of INFO, from struct redisServer, with the names of INFO.
local xcore = require "xcore"
local adlist = require "redis.adlist"
local alloc = require "redis.alloc"
local dict = require "redis.dict"
local fault = require "redis.fault"
local maybe = require "lib.maybe"
local names = require "redis.names"

local server = {}

-- REDIS_VERSION_NUM, 0xMMmmpp. It is a macro, absent from the debug information of -g, but a function returns it.
--     x86-64:  mov $N, %eax                aarch64:  mov w0, #low; movk w0, #high, lsl #16
local function returned_constant(t)
	if not t:has_symbol "RM_GetServerVersion" then return nil end
	local at = t:symbol("RM_GetServerVersion").addr
	if t.arch == "x86-64" then
		local number = t:read(at, 16):match "\xb8(....)"
		return number and string.unpack("<I4", number)
	end
	if t.arch ~= "aarch64" then return nil end
	local low, high = t:u32(at), t:u32(at + 4)
	if low & 0xffe0001f ~= 0x52800000 or high & 0xffe0001f ~= 0x72a00000 then return nil end
	return low >> 5 & 0xffff | (high >> 5 & 0xffff) << 16
end

-- "7.0.15"; nil if it is unknown.
function server.version(t)
	local done, number = pcall(returned_constant, t)
	if not done or not number or number < 0x010000 or number > 0xffffff then return nil end
	return ("%d.%d.%d"):format(number >> 16, number >> 8 & 255, number & 255)
end

local function mode(s)
	if maybe.get(s, "cluster_enabled") ~= 0 then return "cluster" end
	return maybe.get(s, "sentinel_mode") ~= 0 and "sentinel" or "standalone"
end

function server.role(s)
	return s.masterhost and "slave" or "master"
end

local function used_memory(_, t)
	return t:has_var "zmalloc.c::used_memory" and t:var "zmalloc.c::used_memory" or nil
end

-- The name of a number in Redis's own table of the setting.
local function setting_name(t, variable, number)
	if not t:has_var(variable) then return nil end
	for _, entry in xcore.each(t:var(variable)) do
		if not entry.name then return nil end
		if entry.val == number then return xcore.str(entry.name) end
	end
end

local function string_at(path)
	return function(s) return xcore.str(maybe.get(s, path)) end
end

local function is_child(kind)
	return function(s) return maybe.get(s, "child_type") == kind end
end

-- "ok" if all existing members among the paths are C_OK.
local function status(...)
	local paths = { ... }
	return function(s)
		local worst
		for _, path in ipairs(paths) do
			local value = maybe.get(s, path)
			if value then worst = worst == "err" and worst or value == 0 and "ok" or "err" end
		end
		return worst
	end
end

local function peak(s, t)
	local now = used_memory(s, t) or 0
	return math.max(maybe.get(s, "stat_peak_memory") or 0, now)
end

local function dict_size(path)
	return function(s)
		local d = maybe.get(s, path)
		return d and dict.used(d)
	end
end

-- Each entry is a key, the kind of field, and its source: a path in redisServer (the first that exists of several) or
-- a function of the server and the target.
server.GENERAL = {
	{ "redis_version", "text", function(_, t) return server.version(t) end },
	{ "redis_mode", "text", mode },
	{ "role", "text", server.role },
	{ "process_id", "integer", "pid" },
	{ "run_id", "text", string_at "runid" },
	{ "tcp_port", "integer", "port" },
	{ "unix_socket", "text", string_at "unixsocket" },
	{ "uptime_in_seconds", "seconds", function(s) return s.unixtime - s.stat_starttime end },
	{ "hz", "integer", "hz" },
	{ "executable", "text", string_at "executable" },
	{ "config_file", "text", string_at "configfile" },
	{ "io_threads", "integer", "io_threads_num" },
}

server.CLIENTS = {
	{ "connected_clients", "count", function(s) return adlist.length(s.clients) - adlist.length(s.slaves) end },
	{ "maxclients", "count", "maxclients" },
	{ "blocked_clients", "count", "blocked_clients" },
	{ "tracking_clients", "count", "tracking_clients" },
}

server.MEMORY = {
	{ "used_memory", "bytes", used_memory },
	{ "used_memory_peak", "bytes", peak },
	{ "used_memory_startup", "bytes", "initial_memory_usage" },
	{ "used_memory_rss", "bytes", "cron_malloc_stats.process_rss" },
	{ "allocator_allocated", "bytes", "cron_malloc_stats.allocator_allocated" },
	{ "allocator_active", "bytes", "cron_malloc_stats.allocator_active" },
	{ "allocator_resident", "bytes", "cron_malloc_stats.allocator_resident" },
	{ "total_system_memory", "bytes", "system_memory_size" },
	{ "maxmemory", "bytes", "maxmemory" },
	{ "maxmemory_policy", "text", function(s, t) 	return setting_name(t, "maxmemory_policy_enum", s.maxmemory_policy)
end },
	{ "mem_total_replication_buffers", "bytes", "repl_buffer_mem" },
	{ "mem_allocator", "text", function(_, t) return alloc.of(t).name end },
	{ "active_defrag_running", "integer", "active_defrag_running" },
}

server.PERSISTENCE = {
	{ "loading", "bool", function(s) return s.loading ~= 0 and (maybe.get(s, "async_loading") or 0) == 0 end },
	{ "async_loading", "bool", function(s) return (maybe.get(s, "async_loading") or 0) ~= 0 end },
	{ "loading_total_bytes", "bytes", function(s) return s.loading ~= 0 and s.loading_total_bytes or nil end },
	{ "loading_loaded_bytes", "bytes", function(s) return s.loading ~= 0 and s.loading_loaded_bytes or nil end },
	{ "rdb_changes_since_last_save", "count", "dirty" },
	{ "rdb_bgsave_in_progress", "bool", is_child(1) },
	{ "rdb_last_save_time", "integer", "lastsave" },
	{ "rdb_last_bgsave_status", "text", status "lastbgsave_status" },
	{ "rdb_last_cow_size", "bytes", "stat_rdb_cow_bytes" },
	{ "aof_enabled", "bool", function(s) return maybe.get(s, "aof_state") ~= 0 end },
	{ "aof_rewrite_in_progress", "bool", is_child(2) },
	{ "aof_last_bgrewrite_status", "text", status "aof_lastbgrewrite_status" },
	{ "aof_last_write_status", "text", status("aof_last_write_status", "aof_bio_fsync_status") },
	{ "aof_current_size", "bytes", function(s) 	return s.aof_state ~= 0 and maybe.get(s, "aof_current_size") or nil
end },
	{ "child", "text", function(s) return names.CHILDREN[maybe.get(s, "child_type") or 0] end },
	{ "child_pid", "integer", function(s) return s.child_pid > 0 and s.child_pid or nil end },
}

server.STATS = {
	{ "total_connections_received", "count", "stat_numconnections" },
	{ "total_commands_processed", "count", "stat_numcommands" },
	{ "rejected_connections", "count", "stat_rejected_conn" },
	{ "sync_full", "count", "stat_sync_full" },
	{ "sync_partial_ok", "count", "stat_sync_partial_ok" },
	{ "sync_partial_err", "count", "stat_sync_partial_err" },
	{ "expired_keys", "count", "stat_expiredkeys" },
	{ "evicted_keys", "count", "stat_evictedkeys" },
	{ "evicted_clients", "count", "stat_evictedclients" },
	{ "keyspace_hits", "count", "stat_keyspace_hits" },
	{ "keyspace_misses", "count", "stat_keyspace_misses" },
	{ "pubsub_channels", "count", dict_size "pubsub_channels" },
	{ "pubsub_patterns", "count", dict_size "pubsub_patterns" },
	{ "latest_fork_usec", "count", "stat_fork_time" },
	{ "total_forks", "count", "stat_total_forks" },
	{ "unexpected_error_replies", "count", "stat_unexpected_error_replies" },
	{ "total_error_replies", "count", "stat_total_error_replies" },
}

local function value_of(source, s, t)
	if type(source) == "string" then return maybe.get(s, source) end
	return (source(s, t))
end

-- Adds facts of one of the lists above to a section; `only` is a set of keys.
function server.add(t, section, facts, only)
	local s = t:var "server"
	for _, fact in ipairs(facts) do
		local key, kind, source = fact[1], fact[2], fact[3]
		if not only or only[key] then
			local value, why = fault.try(value_of, source, s, t)
			if why then
				section:unknown(key, why)
			elseif value ~= nil and value ~= "" then
				section[kind](section, key, value)
			end
		end
	end
end

server.used_memory = function(t) return used_memory(nil, t) end
server.peak_memory = function(t) return peak(t:var "server", t) end

return server
