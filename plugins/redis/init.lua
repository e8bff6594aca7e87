-- The redis plugin: keys, clients and the current command of a redis-server, in a core or a running process.
-- Structures are accessed by member names, so the same code reads Redis 4.0 to 7.4; tested with 7.0.15.
local function command(name, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args) require("lib.damage").guard(require("redis.commands")[name], t, report, args) end,
	}
end

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
		info = command("info", "the fields of INFO"),
		keys = command("keys", "keys with type, encoding and memory", "[--db N] [--match GLOB] [--limit N]"),
		big = command("big", "the largest keys of each type", "[--db N] [--limit N] [--samples N]"),
		types = command("types", "keys and memory by database, type and encoding", "[--db N] [--samples N]"),
		expires = command("expires", "keys with an expiry time, and the times", "[--db N]"),
		clients = command("clients", "connections, as in CLIENT LIST"),
		blocked = command("blocked", "blocked clients, and what they wait for"),
		replication = command("replication", "masters, replicas and their offsets"),
		slowlog = command("slowlog", "the slow log"),
		command = command("command", "the current command, and objects on the stack"),
		key = command("key", "one key: type, encoding, memory, expiry, elements", "KEY [--db N]"),
	},
	flames = {
		memory = {
			about = "memory of keys by database, type, encoding and prefix up to ':'", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("redis.commands").flame, t, tree) end,
		},
	},
}
