-- tables.lua: clients, slow commands, replication and the current command, as parts of a report.
local xcore = require "xcore"
local replication = require "redis.replication"

local tables = {}

-- Reports unreadable items: {bad, why}.
function tables.trouble(section, lost, what)
	if lost.bad > 0 then section:problem(("%s that cannot be read: %d"):format(what, lost.bad), lost.why) end
end

-- The table of CLIENT LIST; `brief`: only the columns that matter in an emergency.
function tables.clients(section, list, brief)
	local columns = {
		{ "id", "integer" }, { "addr", "text" }, { "name", "text" }, { "flags", "text" }, { "db", "integer" }, { "cmd", "text" },
		{ "age", "seconds" }, { "idle", "seconds" }, { "omem", "bytes", label = "OUTPUT" }, { "qbuf", "bytes", label = "QUERY" },
		{ "tot_mem", "bytes", label = "MEMORY" },
	}
	local more = { "laddr", "fd", "sub", "psub", "ssub", "multi", "qbuf_free", "argv_mem", "multi_mem", "rbs", "rbp", "obl", "oll",
		"events", "user", "resp" }
	local words = { laddr = true, events = true, user = true }
	for _, key in ipairs(brief and {} or more) do
		columns[#columns + 1] = { key, words[key] and "text" or "integer", verbose = true }
	end
	local rows = section:table("clients", columns)
	for _, client in ipairs(list) do
		local cells = {}
		for i, column in ipairs(columns) do cells[i] = client[column[1]] end
		rows:row(table.unpack(cells, 1, #columns))
	end
end

function tables.blocked(t, section, list)
	local now = t:var "server".mstime
	local rows = section:table("blocked", {
		{ "id", "integer" }, { "addr", "text" }, { "on", "text" }, { "keys", "text", secret = true }, { "cmd", "text" },
		{ "idle", "seconds" }, { "timeout", "seconds", label = "TIMES OUT IN" } })
	for _, client in ipairs(list) do
		local wait = client.wait
		if wait then
			rows:row(client.id, client.addr, wait.on, table.concat(wait.keys, " "), client.cmd, client.idle,
				wait.timeout > 0 and (wait.timeout - now) / 1000 or nil)
		end
	end
end

function tables.slowlog(section, list)
	local rows = section:table("slowlog", {
		{ "id", "integer" }, { "duration", "seconds" }, { "time", "integer" }, { "command", "text", secret = true },
		{ "addr", "text" }, { "name", "text" } })
	for _, entry in ipairs(list) do
		rows:row(entry.id, entry.microseconds / 1e6, entry.time, entry.command, entry.addr, entry.name)
	end
end

function tables.replication(t, section)
	local s = t:var "server"
	section:text("role", s.masterhost and "slave" or "master")
	local master = replication.master(t)
	if master then
		section:text("master_host", master.host)
		section:integer("master_port", master.port)
		section:text("master_link_status", master.up and "up" or "down")
		section:text("master_link_state", master.state)
		section:seconds("master_last_io_seconds_ago", master.last_io)
		section:seconds("master_link_down_since_seconds", master.down_for)
		section:integer("slave_repl_offset", master.offset)
		section:integer("slave_read_repl_offset", master.read_offset)
		section:bytes("master_sync_total_bytes", master.sync_total)
		section:bytes("master_sync_read_bytes", master.sync_read)
	end
	section:text("master_replid", xcore.str(s.replid))
	section:integer("master_repl_offset", s.master_repl_offset)
	section:bytes("repl_backlog_size", s.repl_backlog_size)
	local rows = section:table("replicas", {
		{ "id", "integer" }, { "ip", "text" }, { "port", "integer" }, { "state", "text" }, { "offset", "integer" },
		{ "behind", "bytes" }, { "lag", "seconds" } })
	local replicas, lost = replication.replicas(t)
	for _, replica in ipairs(replicas) do
		rows:row(replica.id, replica.ip, replica.port, replica.state, replica.offset, replica.behind, replica.lag)
	end
	tables.trouble(section, lost, "replicas")
end

-- The current command (work.lua) and the objects in the stack's variables.
function tables.work(section, found, stack)
	if not found then
		section:headline("no command is running"
			.. (stack and stack.func and "; the server is in " .. stack.func or ""))
	elseif found.why then
		section:unknown("command", found.why)
	else
		section:headline(
			("%s, from client %s, database %d"):format(found.command or "?", xcore.u64(found.client), found.db or -1)
		)
		section:text("command", found.command)
		section:text("key", found.key, { secret = true })
		section:text("arguments", found.line, { secret = true })
		section:integer("client", found.client)
		section:text("addr", found.addr)
		section:text("name", found.name)
		section:integer("database", found.db)
		section:bool("in_transaction", found.in_transaction, { quiet = not found.in_transaction })
		if found.script_caller then
			section:text("script", found.script)
			section:text("script_command", found.script_command, { secret = true })
			section:integer("script_caller", found.script_caller)
		end
	end
	if not stack or #stack.values == 0 then return end
	local rows = section:table("in_hand", { { "frame", "integer" }, { "function", "text" }, { "variable", "text" },
		{ "value", "text", secret = true } })
	for _, value in ipairs(stack.values) do rows:row(value.frame, value.func, value.name, value.text) end
end

-- The number of clients in each state, and the sum of their pending output.
function tables.client_totals(section, list)
	local totals =
		{ clients = #list, blocked = 0, pubsub = 0, replicas = 0, transactions = 0, output = 0, query = 0, memory = 0 }
	for _, client in ipairs(list) do
		if client.wait then totals.blocked = totals.blocked + 1 end
		if client.class == "pubsub" then totals.pubsub = totals.pubsub + 1 end
		if client.class == "replica" then totals.replicas = totals.replicas + 1 end
		if client.in_multi then totals.transactions = totals.transactions + 1 end
		totals.output = totals.output + client.omem
		totals.query = totals.query + client.qbuf
		totals.memory = totals.memory + client.tot_mem
	end
	for _, key in ipairs { "clients", "blocked", "pubsub", "replicas", "transactions" } do
		section:count(key, totals[key])
	end
	section:bytes("output_buffers", totals.output)
	section:bytes("query_buffers", totals.query)
	section:bytes("client_memory", totals.memory)
end

return tables
