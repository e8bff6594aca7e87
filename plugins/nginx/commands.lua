-- commands.lua: the process as a whole: its role, sockets, modules, and the processes of a master.
local xcore = require "xcore"
local args = require "lib.args"
local conn = require "nginx.conn"
local cycle = require "nginx.cycle"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local str = require "nginx.str"

local commands = {}

local MOST_PROCESSES, MOST_CYCLES = 1024, 100

-- Pending instructions to the process, by the flags that its signal handlers set.
local FLAGS = {
	{ "ngx_quit", "quits when its requests finish" }, { "ngx_terminate", "terminates" },
	{ "ngx_exiting", "is exiting: accepts no new connections, waits for its requests" },
	{ "ngx_reconfigure", "will reload its configuration" },
	{ "ngx_reopen", "will reopen its logs" },
}

local function add_flags(t, section)
	for _, one in ipairs(FLAGS) do
		local done, value = pcall(cycle.var, t, one[1], one[1] == "ngx_exiting" and "ngx_uint_t" or "sig_atomic_t")
		if done and value and value ~= 0 then section:note("the process " .. one[2]) end
	end
end

-- Earlier cycles that are still in use after a reload.
local function old_cycles(of)
	local count, at = 0, of.old_cycle
	while at and count < MOST_CYCLES do count, at = count + 1, damage.try(maybe.get, at, "old_cycle") end
	return count
end

local function add_facts(t, section, of)
	local msec, now = cycle.now(t)
	section:text("version", damage.try(cycle.version, t) or nil)
	section:text("role", (cycle.role(t)))
	section:integer("pid", cycle.var(t, "ngx_pid", "ngx_pid_t"))
	section:integer("worker", cycle.var(t, "ngx_worker", "ngx_uint_t"), { quiet = true })
	section:text("configuration", str.try(of.conf_file))
	section:text("prefix", str.try(of.prefix), { quiet = true })
	section:text("host", str.try(of.hostname))
	section:seconds("clock", now, { quiet = true })
	section:integer("clock_ms", msec, { quiet = true })
	local pool = damage.try(conn.pool, t)
	section:count("connections", of.connection_n)
	section:count("free_connections", pool and pool.free_count)
	section:count("reusable_connections", maybe.get(of, "reusable_connections_n"))
	local told = damage.try(conn.stub_status, t) or {}
	for _, name in ipairs { "accepted", "handled", "requests" } do
		section:count(name, told[name], { label = name .. " by all workers", quiet = not told[name] })
	end
	section:count("modules", maybe.get(of, "modules_n"))
	section:count("old_cycles", old_cycles(of), { quiet = true })
	section:address("cycle", of)
	local text, proofs, lua_why = layout.describe(t)
	if not text then return end
	section:text("layout", text)
	section:text("proved_by", proofs)
	if lua_why then section:note(lua_why .. ": information about Lua is omitted") end
end

local function add_listening(section, of)
	local rows = section:table("listening", { { "address", "text" }, { "fd", "integer" }, { "protocol", "text" }, { "backlog", "integer" },
		{ "connections", "text", label = "HANDLED BY" }, { "ignored", "bool", verbose = true } })
	for _, one in list.array(of.listening, "ngx_listening_t") do
		local udp = one.type == 2 -- SOCK_DGRAM
		rows:row(str.try(one.addr_text, 128), one.fd, udp and "udp" or "tcp", not udp and one.backlog or nil,
			xcore.symbol(one.handler), maybe.get(one, "ignore") == 1)
	end
end

local function add_modules(t, section, limit)
	local rows, all = section:table("modules", { { "index", "integer" }, { "module", "text" }, { "file", "text" },
		{ "address", "address", verbose = true } }), cycle.modules(t)
	for i, module in ipairs(all) do
		if i > limit then break end
		local file = t:module(module.addr)
		rows:row(module.index, module.name, file and file.name, module.addr)
	end
end

-- The processes that a master has started: ngx_processes[ngx_last_process].
local function add_processes(t, section)
	local last = cycle.var(t, "ngx_last_process", "ngx_int_t")
	local _, role = cycle.role(t)
	if not last or last < 1 or role == cycle.WORKER or not layout.has(t, "ngx_process_t") then return end
	local rows = section:table("processes", { { "pid", "integer" }, { "name", "text" }, { "state", "text" } })
	local at, size = t:symbol("ngx_processes").addr, xcore.sizeof "ngx_process_t"
	for i = 0, math.min(last, MOST_PROCESSES) - 1 do
		local one = t:value("ngx_process_t", at + i * size)
		if one.pid > 0 then
			rows:row(one.pid, damage.try(xcore.str, one.name, 64) or nil,
				one.exited ~= 0 and "exited" or one.exiting ~= 0 and "exiting" or "running")
		end
	end
end

function commands.cycle(t, report, given)
	local options = args.parse(given, { limit = "number" })
	local of = cycle.of(t)
	local section = report:section("cycle", "nginx")
	add_facts(t, section, of)
	add_flags(t, section)
	damage.part(section, "listening sockets", add_listening, section, of)
	damage.part(section, "processes", add_processes, t, section)
	damage.part(section, "modules", add_modules, t, section, options.limit or 1000)
end

return commands
