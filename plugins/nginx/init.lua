-- The nginx plugin: connections, requests, timers, memory and configuration of an nginx, dead or alive.
-- Structures are found by their members' names, so that nginx 1.18 to 1.27 are read alike, with debug information or as cdef.lua makes them.
local function command(module, entry, about, usage)
	return {
		about = about, usage = usage,
		run = function(t, report, args)
			require("lib.damage").guard(function()
				require("nginx.cycle").known(t)
				require("nginx." .. module)[entry](t, report, args)
			end)
		end,
	}
end

return {
	name = "nginx",
	about = "connections, requests, timers, memory and configuration of an nginx",
	doc = [[
Debug information of nginx is not needed: without it, nginx.cycle says what is known instead, and
what proves it. One worker at a time is looked at: counters in shared memory (stub_status) are all
workers'. Of a running process, requests that no connection leads to are looked for with --scan
only; nginx.chain --passed shows buffers that were sent already, too; flame graphs are of one moment.
What clients sent (request lines, headers, bodies) is left out wherever redaction is on.]],
	match = { symbols = { "ngx_cycle" } },
	claims = function(t, heap) require("nginx.claims").make(t, heap) end,
	analyze = function(t, report) require("nginx.guide").analyze(t, report) end,
	commands = {
		conns = command("conns", "conns", "connections: what each is for, peers, age, timers", "[--kind TEXT] [--limit N]"),
		reqs = command("reqs", "reqs", "requests in flight: phase, what for, Lua line, pool", "[--raw] [--scan] [--limit N]"),
		req = command("req", "req", "one request: headers, upstream, buffers, Lua stacks", "ADDRESS"),
		chain = command("chain", "chain", "a chain of buffers: what each holds, flags, text",
			"ADDRESS [--text] [--passed] [--limit N]"),
		timers = command("timers", "timers", "timers: when each is due, what for, whose", "[--limit N]"),
		posted = command("timers", "posted", "events to be handled in this turn of the loop"),
		lua = command("commands_lua", "lua", "Lua: limits, coroutines, cosockets, caches, code", "[--limit N]"),
		cycle = command("commands", "cycle", "the process: version, role, sockets, modules", "[--limit N]"),
		conf = command("commands_conf", "conf", "sockets, servers, locations with their handlers", "[--timeouts] [--text]"),
		phases = command("commands_conf", "phases", "handlers of each phase, in their order"),
		filters = command("commands_conf", "filters", "header and body filters, in their order"),
		upstreams = command("commands_conf", "upstreams", "backends: peers, failures, connections, idle ones"),
		memory = command("commands_memory", "memory", "one ledger: Lua, pools, malloc, shm, files, stacks"),
		pools = command("commands_pools", "pools", "all pools by owner: used, waste, large, leaked",
			"[ADDRESS] [--kind TEXT] [--limit N]"),
		shm = command("commands_shm", "shm", "zones of shared memory: slab pages, free, entries", "[ZONE [--limit N]]"),
		shdict = command("commands_shm", "shdict", "keys of a lua_shared_dict, latest first, or one",
			"NAME [KEY] [--match TEXT] [--limit N]"),
	},
	flames = {
		pools = {
			about = "memory of pools by kind, owner and use", unit = "bytes",
			run = function(t, tree) require("lib.damage").guard(require("nginx.commands_pools").flame, t, tree) end,
		},
		timers = {
			about = "Lua's timers by function and line, or that wait", unit = "coroutines",
			run = function(t, tree) require("lib.damage").guard(require("nginx.flame").timers, t, tree) end,
		},
		waits = {
			about = "coroutines by phase, function, what they wait for",
			unit = "coroutines",
			run = function(t, tree) require("lib.damage").guard(require("nginx.flame").waits, t, tree) end,
		},
	},
}
