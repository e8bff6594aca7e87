-- The nginx plugin: connections, requests, timers, memory and configuration of nginx, in a core or a running process.
-- Structures are accessed by member names, so the same code reads nginx 1.18 to 1.27, with debug information or with
-- the types that cdef.lua declares.
local command, flame = require("lib.plugin").of("nginx", function(t) require("nginx.cycle").known(t) end)

return {
	name = "nginx",
	about = "connections, requests, timers, memory and configuration of nginx",
	doc = [[
Debug information of nginx is not needed: without it, nginx.cycle shows which layout is used and
what proves it. A target is one worker; counters in shared memory (stub_status) are those of all
workers. In a running process, requests that no connection leads to are searched for only with
--scan. nginx.chain --passed also shows buffers already sent. Flame graphs show one moment.
Redaction removes client data: request lines, headers and bodies. `xcore profile --by
nginx.location` and `--by nginx.host` tell apart what a worker spends its time for.]],
	match = { symbols = { "ngx_cycle" } },
	samples = function(t, samples) return require("nginx.samples").begin(t, samples) end,
	claims = function(t, heap) require("nginx.claims").make(t, heap) end,
	analyze = function(t, report) require("nginx.guide").analyze(t, report) end,
	commands = {
		conns = command("conns", "conns", "connections: kind, peer, age, timers", "[--kind TEXT] [--limit N]"),
		reqs = command("reqs", "reqs", "requests in flight: phase, state, Lua line, pool",
			"[--raw] [--scan] [--limit N]"),
		req = command("req", "req", "one request: headers, upstream, buffers, Lua stacks", "ADDRESS"),
		chain = command("chain", "chain", "a chain of buffers: contents, flags, text",
			"ADDRESS [--text] [--passed] [--limit N]"),
		timers = command("timers", "timers", "timers: when each is due, its purpose, its owner", "[--limit N]"),
		posted = command("timers", "posted", "events posted for this iteration of the event loop"),
		lua = command("commands_lua", "lua", "Lua: limits, coroutines, cosockets, caches, code", "[--limit N]"),
		cycle = command("commands", "cycle", "the process: version, role, sockets, modules", "[--limit N]"),
		conf = command("commands_conf", "conf", "sockets, servers, locations with their handlers",
			"[--timeouts] [--text]"),
		phases = command("commands_conf", "phases", "handlers of each phase, in order"),
		filters = command("commands_conf", "filters", "header and body filters, in order"),
		upstreams = command("commands_conf", "upstreams",
			"backends: peers, failures, connections, idle connections"),
		memory = command("commands_memory", "memory",
			"all memory in one table: Lua, pools, malloc, shm, files, stacks"),
		pools = command("commands_pools", "pools", "all pools by owner: used, waste, large, leaked",
			"[ADDRESS] [--kind TEXT] [--limit N]"),
		shm = command("commands_shm", "shm", "shared memory zones: slab pages, free memory, entries",
			"[ZONE [--limit N]]"),
		shdict = command("commands_shm", "shdict", "keys of a lua_shared_dict, most recent first, or one key",
			"NAME [KEY] [--match TEXT] [--limit N]"),
	},
	flames = {
		pools = flame("commands_pools", "flame", "memory of pools by kind, owner and use", "bytes"),
		timers = flame("flame", "timers", "Lua timers by function and line, running or pending", "coroutines"),
		waits = flame("flame", "waits", "coroutines by phase, function and what they wait for", "coroutines"),
	},
}
