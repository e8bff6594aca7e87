-- The nginx plugin: connections, requests, timers, memory and configuration of an nginx, dead or alive.
-- Structures are found by their members' names, so that nginx 1.18 to 1.27 are read alike, with debug information or as cdef.lua makes them.
local function command(module, entry, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args)
			require("nginx.cycle").known(t)
			require("nginx." .. module)[entry](t, report, args)
		end,
	}
end

return {
	name = "nginx",
	about = "connections, requests, timers, memory and configuration of an nginx",
	doc = [[
Debug information of nginx is not needed: without it, nginx.cycle says what is known instead, and what proves it. One worker at a time is looked at: counters in
shared memory (stub_status) are all workers'. Of a running process, requests that no connection leads to are looked for with --scan only.
What clients sent (request lines, headers, bodies) is left out wherever redaction is on.]],
	match = { symbols = { "ngx_cycle" } },
	claims = function(t, heap) require("nginx.claims").make(t, heap) end,
	analyze = function(t, report) require("nginx.guide").analyze(t, report) end,
	commands = {
		conns = command("conns", "conns", "connections: what each is for, peers, age, timers", "[--kind TEXT] [--limit N]"),
		reqs = command("reqs", "reqs", "requests in flight: phase, what each waits for, Lua line, pool", "[--raw] [--scan] [--limit N]"),
		req = command("req", "req", "one request: upstream, buffers, headers, variables, Lua stacks, as it came", "ADDRESS"),
		chain = command("chain", "chain", "a chain of buffers: what each holds, flags, the text, with --passed what was sent already, too",
			"ADDRESS [--text] [--passed] [--limit N]"),
		timers = command("timers", "timers", "timers: when each is due, what for, whose", "[--limit N]"),
		posted = command("timers", "posted", "events that wait to be handled in this turn of the loop"),
		lua = command("commands_lua", "lua", "the Lua module: limits, coroutines, cosocket pools, lrucaches, cached code", "[--limit N]"),
		cycle = command("commands", "cycle", "what the process is: version, role, sockets, modules, processes", "[--limit N]"),
		conf = command("commands_conf", "conf", "listening sockets, servers, locations with their handlers", "[--timeouts] [--text]"),
		phases = command("commands_conf", "phases", "handlers of each phase, in the order that requests meet them"),
		filters = command("commands_conf", "filters", "header and body filters, in their order"),
		upstreams = command("commands_conf", "upstreams", "groups of backends: peers, failures, connections, idle ones"),
		memory = command("commands_memory", "memory", "one ledger of all that is mapped: Lua, pools, malloc, shared memory, files, stacks"),
		pools = command("commands_pools", "pools", "all pools by owner: blocks, used, waste, large allocations; those that leaked",
			"[ADDRESS] [--kind TEXT] [--limit N]"),
		shm = command("commands_shm", "shm", "zones of shared memory: slab pages by class, what is free, entries", "[ZONE [--limit N]]"),
		shdict = command("commands_shm", "shdict", "keys of a lua_shared_dict, the latest used first, or one of them",
			"NAME [KEY] [--match TEXT] [--limit N]"),
	},
	flames = {
		pools = {
			about = "memory of pools by kind, owner and use", unit = "bytes",
			run = function(t, tree) require("nginx.commands_pools").flame(t, tree) end,
		},
		timers = {
			about = "Lua's timers, of one moment: those that run by function and line, and those that wait for their time", unit = "coroutines",
			run = function(t, tree) require("nginx.flame").timers(t, tree) end,
		},
		waits = {
			about = "Lua coroutines of requests and timers, of one moment: by phase, function and line, and what each waits for",
			unit = "coroutines",
			run = function(t, tree) require("nginx.flame").waits(t, tree) end,
		},
	},
}
