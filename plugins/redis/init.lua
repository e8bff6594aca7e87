-- The redis plugin: keys, clients and the current command of a redis-server, in a core or a running process.
-- Structures are accessed by member names, so the same code reads Redis 4.0 to 7.4; tested with 7.0.15.
local command, flame = require("lib.plugin").of "redis"

return {
	name = "redis",
	about = "keys, memory, clients and the current command of a redis-server",
	doc = [[
Needs debug information of redis-server. The memory of a key is computed as MEMORY USAGE does, from the
block sizes of the allocator if it is jemalloc or glibc. --samples N is the number of elements of a large
value to look at (5, as in MEMORY USAGE; 0 is all). `analyze` looks at about 200,000 keys of each database
and reports if there are more.]],
	match = { symbols = { "redisCommandTable" } },
	claims = function(_, heap) require("redis.claims").make(heap) end,
	analyze = function(t, report) require("redis.commands").analyze(t, report) end,
	commands = {
		info = command("commands", "info", "the fields of INFO"),
		keys = command("commands", "keys", "keys with type, encoding and memory", "[--db N] [--match GLOB] [--limit N]"),
		big = command("commands", "big", "the largest keys of each type", "[--db N] [--limit N] [--samples N]"),
		types = command("commands", "types", "keys and memory by database, type and encoding", "[--db N] [--samples N]"),
		expires = command("commands", "expires", "keys with an expiry time, and the times", "[--db N]"),
		clients = command("commands", "clients", "connections, as in CLIENT LIST"),
		blocked = command("commands", "blocked", "blocked clients, and what they wait for"),
		replication = command("commands", "replication", "masters, replicas and their offsets"),
		slowlog = command("commands", "slowlog", "the slow log"),
		command = command("commands", "command", "the current command, and objects on the stack"),
		key = command("commands", "key", "one key: type, encoding, memory, expiry, elements", "KEY [--db N]"),
	},
	flames = {
		memory = flame("commands", "flame", "memory of keys by database, type, encoding and prefix up to ':'", "bytes"),
	},
}
