-- The redis plugin: keys, clients and the command in work of a redis-server, dead or alive.
-- Structures are found by their members' names, so that Redis 4.0 to 7.4 are read alike; tested with 7.0.15.
local function command(name, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args) require("lib.damage").guard(require("redis.commands")[name], t, report, args) end,
	}
end

return {
	name = "redis",
	about = "keys, memory, clients and the command in work of a redis-server",
	doc = [[
Needs the debug information of redis-server. Memory of a key is counted as MEMORY USAGE counts it, with the sizes that the
allocator gave when it is jemalloc or glibc's; --samples N says how many elements of a large value are looked at (5 as
MEMORY USAGE does, 0 is all). `analyze` looks at about 200,000 keys of each database and says when that is not all.]],
	match = { symbols = { "redisCommandTable" } },
	claims = function(_, heap) require("redis.claims").make(heap) end,
	analyze = function(t, report) require("redis.commands").analyze(t, report) end,
	commands = {
		info = command("info", "what INFO says"),
		keys = command("keys", "keys with type, encoding and memory", "[--db N] [--match GLOB] [--limit N]"),
		big = command("big", "the largest keys of each type", "[--db N] [--limit N] [--samples N]"),
		types = command("types", "keys and memory by database, type and encoding", "[--db N] [--samples N]"),
		expires = command("expires", "keys that expire, and when", "[--db N]"),
		clients = command("clients", "connections, as CLIENT LIST gives them"),
		blocked = command("blocked", "clients that wait, and for what"),
		replication = command("replication", "masters, replicas and how far they are"),
		slowlog = command("slowlog", "the slow log"),
		command = command("command", "the command in work, with what the stack has in hand"),
		key = command("key", "one key: type, encoding, memory, expiry, elements", "KEY [--db N]"),
	},
	flames = {
		memory = {
			about = "memory of keys by database, type, encoding and prefix up to ':'", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("redis.commands").flame, t, tree) end,
		},
	},
}
