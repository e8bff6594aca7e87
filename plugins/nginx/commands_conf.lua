-- commands_conf.lua: conf, phases, filters and upstreams: arguments in, sections out.
local xcore = require "xcore"
local args = require "lib.args"
local conf = require "nginx.conf"
local cycle = require "nginx.cycle"
local filters = require "nginx.filters"
local func = require "nginx.func"
local list = require "nginx.list"
local maybe = require "lib.maybe"
local phase = require "nginx.phase"
local str = require "nginx.str"
local upstreams = require "nginx.upstreams"

local commands = {}

-- ---- conf ----

local function what_of(one)
	local parts = {}
	if one.target then parts[1] = "→ " .. one.target end
	for _, lua in ipairs(one.lua) do parts[#parts + 1] = lua end
	if one.rewrites then parts[#parts + 1] = "rewrites or returns" end
	if one.internal then parts[#parts + 1] = "internal" end
	if #parts == 0 and one.root and not one.handler then parts[1] = "files of " .. one.root end
	return table.concat(parts, "; ")
end

local function show_server(report, index, one)
	local section = report:section("server_" .. index, "nginx: server " .. (one.name and one.name ~= "" and one.name or index))
	section:text("listen", table.concat(one.listens, ", "))
	section:text("names", #one.names > 0 and table.concat(one.names, " ") or one.name)
	section:text("where", one.file and ("%s:%d"):format(one.file, one.line))
	section:address("conf", one.addr)
	if one.why then section:problem("its locations cannot be read: " .. one.why) end
	local rows = section:table("locations", { { "location", "text" }, { "handler", "text", label = "CONTENT HANDLER" }, { "what", "text" },
		{ "conf", "address", verbose = true } })
	for _, location in ipairs(one.locations or {}) do
		rows:row(("  "):rep(location.depth) .. location.name, location.handler or "(files)", what_of(location), location.addr)
	end
end

-- The text of the configuration files, which debug builds of nginx keep (and `nginx -T` shows).
local function show_text(t, report)
	local section, count = report:section("text", "nginx: text of the configuration"), 0
	for _, file in list.array(maybe.get(cycle.of(t), "config_dump"), "ngx_conf_dump_t") do
		local name, buffer = str.try(file.name, 256), file.buffer
		local text = buffer and str.between(buffer.pos, buffer.last, 1 << 20)
		count = count + 1
		section:lines("file_" .. count, text, { label = name, secret = true })
	end
	if count == 0 then section:note "this nginx did not keep the text: only builds with --with-debug do" end
end

local function seconds(msec)
	return msec and msec >= 0 and msec < 1 << 40 and msec / 1000 or nil
end

-- The timeouts of each location: of its client, of its upstream, of its cosockets.
local function show_timeouts(t, report)
	local section = report:section("timeouts", "nginx: timeouts")
	local rows = section:table("timeouts", { { "server", "text" }, { "location", "text" }, { "header", "seconds" }, { "body", "seconds" },
		{ "send", "seconds" }, { "keepalive", "seconds" }, { "lingering", "seconds" }, { "pass_connect", "seconds" }, { "pass_send", "seconds" },
		{ "pass_read", "seconds" }, { "lua_connect", "seconds" }, { "lua_send", "seconds" }, { "lua_read", "seconds" } })
	for index, one in ipairs(conf.servers(t, conf.sockets(t)) or {}) do
		for _, location in ipairs(one.locations or {}) do
			local of, pass, lua = location.value, conf.pass(t, location) or {}, conf.lua(t, location) or {}
			rows:row(one.name ~= "" and one.name or tostring(index), location.name, seconds(one.value.client_header_timeout),
				seconds(of.client_body_timeout), seconds(of.send_timeout), seconds(of.keepalive_timeout), seconds(of.lingering_timeout),
				seconds(pass.connect_timeout), seconds(pass.send_timeout), seconds(pass.read_timeout),
				seconds(lua.connect_timeout), seconds(lua.send_timeout), seconds(lua.read_timeout))
		end
	end
end

function commands.conf(t, report, list_)
	local options = args.parse(list_, { text = "flag", timeouts = "flag" })
	if options.timeouts then return show_timeouts(t, report) end
	if options.text then return show_text(t, report) end
	local section, sockets = report:section("conf", "nginx: configuration"), conf.sockets(t)
	section:text("file", str.try(cycle.of(t).conf_file, 1024))
	section:text("prefix", str.try(cycle.of(t).prefix, 1024))
	local rows = section:table("listening", { { "address", "text" }, { "with", "text" }, { "handler", "text" }, { "backlog", "integer" },
		{ "fd", "integer" } })
	for _, one in ipairs(sockets.sockets) do rows:row(one.address, one.flags, one.handler, one.backlog, one.fd) end
	local servers = conf.servers(t, sockets)
	if not servers then return section:note "there is no http block" end
	section:count("servers", #servers)
	for index, one in ipairs(servers) do show_server(report, index, one) end
end

-- ---- phases ----

function commands.phases(t, report, list_)
	args.parse(list_, {})
	local found, main = conf.phases(t)
	local section = report:section("phases", "nginx: phases")
	if not main then return section:note "there is no http block" end
	local engine = phase.engine(t)
	local rows = section:table("handlers", { { "index", "count" }, { "phase", "text" }, { "handler", "text" }, { "checker", "text" },
		{ "next", "count", label = "NEXT PHASE AT" } })
	for index, row in ipairs(found) do
		rows:row(index - 1, engine and (phase.row(engine, index - 1)), row.handler, row.checker, row.next)
	end
	local logs = section:table("log", { { "handler", "text", label = "LOG HANDLER" } })
	for _, handler in list.array(main.phases[#main.phases - 1].handlers, "ngx_http_handler_pt") do
		logs:row(func.text(handler))
	end
end

-- ---- filters ----

local CHAINS = { { "http", "header_filter", "header filters" }, { "http", "body_filter", "body filters" },
	{ "stream", "filter", "stream filters" } }

function commands.filters(t, report, list_)
	args.parse(list_, {})
	for _, which in ipairs(CHAINS) do
		local chain, why = filters.chain(t, which[1], which[2])
		if #chain > 0 then
			local section = report:section(which[1] .. "_" .. which[2], "nginx: " .. which[3])
			local rows = section:table("filters", { { "position", "count" }, { "filter", "text" }, { "file", "text" }, { "line", "integer" } })
			for i, one in ipairs(chain) do rows:row(i, one.name or xcore.hex(one.addr), one.file, one.line) end
			if why then section:warning(why) end
		end
	end
end

-- ---- upstreams ----

local PEERS = { { "peer", "text" }, { "conns", "count", label = "CONNECTIONS" }, { "idle", "count" }, { "weight", "integer" }, { "fails", "count" }, { "state", "text" },
	{ "last_fail", "seconds", label = "LAST FAILURE" }, { "server", "text" }, { "address", "address", verbose = true } }

local function show_upstream(section, one, now)
	local rows = section:table("peers", PEERS)
	for _, peer in ipairs(one.peers or {}) do
		local failed = peer.accessed and peer.accessed ~= 0 and now and now - peer.accessed
		rows:row(peer.name, peer.conns, peer.idle, peer.weight, peer.fails, upstreams.state(peer, now), failed or nil, peer.server, peer.addr)
	end
	if one.why then section:problem(one.why) end
end

function commands.upstreams(t, report, list_)
	args.parse(list_, {})
	local _, now = cycle.now(t)
	local all = upstreams.all(t)
	if #all == 0 then report:section("upstreams", "nginx: upstreams"):note "there are none" end
	for index, one in ipairs(all) do
		local section = report:section("upstream_" .. index, ("nginx: %s upstream %s"):format(one.kind, one.name))
		section:text("name", one.name)
		section:text("made_of", one.explicit and one.file and ("upstream, %s:%d"):format(one.file:match "[^/]+$", one.line)
			or one.explicit and "upstream" or "the address of a pass", { label = "made of" })
		section:text("method", one.method)
		if one.zone then section:text("zone", one.zone) end
		if one.idle then
			section:text("keepalive", ("%d idle of at most %d"):format(#one.idle, one.kept))
			section:count("idle", #one.idle, { quiet = true })
		end
		show_upstream(section, one, now)
	end
end

return commands
