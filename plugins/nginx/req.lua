-- req.lua: one request in full.
local xcore = require "xcore"
local args = require "lib.args"
local chain = require "nginx.chain"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local list = require "nginx.list"
local luastack = require "nginx.luastack"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local phase = require "nginx.phase"
local raw = require "nginx.raw"
local reqs = require "nginx.reqs"
local request = require "nginx.request"
local str = require "nginx.str"

local req = {}

local MOST_FRAMES = 50

-- ---- buffers ----

-- One buffer as a row: its contents and size.
local function buffer_row(rows, name, buf)
	if not buf or maybe.addr(buf, "start") == 0 then return end
	rows:row(name, 1, maybe.addr(buf, "last") - maybe.addr(buf, "pos"), nil, maybe.addr(buf, "end") - maybe.addr(buf, "start"), buf)
end

local function chain_row(rows, name, head)
	local all = chain.of(head)
	rows:row(name, #all.links, all.bytes, all.file, nil, head)
	return all.why or all.bad > 0 and "some of its buffers cannot be read"
end

-- The chains of a request, by paths of members: received data, data to the client, the upstream request and answer,
-- Lua output. Free chains come last, because they also hold memory.
local CHAINS = { { "body", "request_body.bufs" }, { "body, being sent", "request_body.busy" }, { "to the client", "out" },
	{ "to the client, behind a subrequest", "postponed.out" },
	{ "upstream request", "upstream.request_bufs" }, { "upstream request, being sent", "upstream.output.busy" },
	{ "upstream request, to the socket", "upstream.writer.out" },
	{ "upstream answer, to the client", "upstream.out_bufs" }, { "upstream answer, being sent", "upstream.busy_bufs" },
	{ "upstream answer, read ahead", "upstream.pipe.preread_bufs" }, { "upstream answer, read", "upstream.pipe.in" },
	{ "upstream answer, to a file", "upstream.pipe.writing" }, { "upstream answer, buffered", "upstream.pipe.out" },
	{ "upstream answer, passed on", "upstream.pipe.busy" }, { "upstream answer, free", "upstream.pipe.free_raw_bufs" },
	{ "upstream answer, free", "upstream.free_bufs" }, { "body, free", "request_body.free" } }
local LUA_CHAINS = { { "lua, held back", "out" }, { "lua, being sent", "busy_bufs" }, { "lua, captured", "body" },
	{ "lua body filter", "filter_in_bufs" }, { "lua body filter, being sent", "filter_busy_bufs" }, { "lua, free", "free_bufs" },
	{ "lua, free for what comes", "free_recv_bufs" } }

local function add_chains(section, rows, of, list)
	for _, one in ipairs(list) do
		local head = damage.try(maybe.get, of, one[2])
		local flaw, why
		if head then flaw, why = damage.try(chain_row, rows, one[1], head) end
		if flaw or why then
			section:problem(("the chain '%s': %s"):format(one[1], flaw or why), "nginx.chain ADDRESS shows more")
		end
	end
end

local function add_buffers(section, r, lua)
	local rows = section:table("buffers", { { "buffer", "text" }, { "count", "count" }, { "unread", "bytes", label = "IN MEMORY" },
		{ "file", "bytes", label = "IN FILES" }, { "size", "bytes" }, { "address", "address" } })
	for _, one in ipairs { { "header", "header_in" }, { "body to come", "request_body.buf" }, { "upstream answer", "upstream.buffer" } } do
		damage.part(section, ("the buffer '%s'"):format(one[1]), function() buffer_row(rows, one[1], maybe.get(r, one[2])) end)
	end
	add_chains(section, rows, r, CHAINS)
	if lua then add_chains(section, rows, lua.ctx, LUA_CHAINS) end
end

-- ---- headers and variables ----

local function headers_of(headers)
	local found = {}
	for i, one in list.list(headers, "ngx_table_elt_t") do
		if i >= 1000 then break end
		if one.hash ~= 0 then found[#found + 1] = { str.try(one.key, 256) or "(not in the core)", str.try(one.value, 512) } end
	end
	return found
end

local function variables_of(t, r)
	local conf, found = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t"), {}
	if not conf or not r.variables then return found end
	for i, variable in list.array(conf.variables, "ngx_http_variable_t") do
		local value = r.variables[i]
		if value.valid ~= 0 and value.not_found == 0 and value.data then
			found[#found + 1] = { "$" .. (str.try(variable.name, 128) or "?"),
				(damage.try(t.read, t, xcore.addr(value.data), math.min(value.len, 512))) }
		end
	end
	return found
end

-- A section of names and values, unless there are none.
local function add_pairs(report, key, title, of, ...)
	local found, why = damage.try(of, ...)
	if found and #found == 0 then return end
	local section = report:section(key, title)
	if not found then
		section:problem("they cannot be read", why)
		return
	end
	local rows = section:table(key, { { "name", "text" }, { "value", "text", secret = true } })
	for _, one in ipairs(found) do rows:row(one[1], one[2]) end
end

-- ---- progress ----

-- The received part of the body: nginx counts the missing part, not the part in its buffer.
local function add_body(section, r)
	local expected, rest = r.headers_in.content_length_n, maybe.get(r, "request_body.rest")
	if expected < 0 or expected == 0 and not rest then return end
	section:bytes("body_expected", expected)
	local buffer = maybe.get(r, "request_body.buf")
	local waiting = buffer and maybe.addr(buffer, "last") - maybe.addr(buffer, "pos") or 0
	if rest and rest >= 0 then section:bytes("body_received", expected - rest + waiting) end
end

-- The core module's configuration of a request: of its location or server; nil if it has none.
function req.core_conf(t, confs, type)
	local core = cycle.module(t, "ngx_http_core_module")
	local conf = confs and core and confs[core.ctx_index]
	return conf and xcore.deref(xcore.cast(conf, type .. " *"))
end

local function name_of_conf(t, confs, type, name)
	return str.try(maybe.get(req.core_conf(t, confs, type), name))
end

local function add_facts(t, section, one)
	local r = one.value
	section:address("address", one.addr)
	section:text("request", one.line, { secret = true })
	section:text("host", one.host, { secret = true })
	section:text("uri", one.uri, { secret = true })
	section:text("args", str.try(r.args), { secret = true, quiet = true })
	section:integer("status", one.status)
	section:text("phase", one.phase)
	section:text("handler", one.handler)
	section:text("doing", one.doing, { quiet = true })
	section:text("state", phase.STATES[one.state] or tostring(one.state))
	section:seconds("age", one.age)
	section:text("client", one.peer)
	section:integer("fd", one.fd)
	section:address("connection", one.connection)
	section:text("location", damage.part(section, "its location", name_of_conf, t, r.loc_conf, "ngx_http_core_loc_conf_t", "name"))
	section:text("server", damage.part(section, "its server", name_of_conf, t, r.srv_conf, "ngx_http_core_srv_conf_t", "server_name"))
	section:text("read_handler", func.name(r.read_event_handler))
	section:text("write_handler", func.name(r.write_event_handler))
	section:integer("references", one.count)
	section:count("subrequests", one.subrequests)
	section:bytes("received", one.received)
	damage.part(section, "its body", add_body, section, r)
	section:bytes("sent", maybe.get(r, "connection.sent"))
	section:bytes("pool", one.pool_bytes)
	section:count("large_allocations", one.large)
	section:address("pool_address", one.pool)
	section:text("found_by", one.via)
end

local function add_upstream(section, one)
	local u = one.upstream
	if not u then return end
	section:text("upstream", u.peer)
	section:text("upstream_state", u.state)
	section:text("upstream_handler", u.handler)
	section:seconds("upstream_since", u.since)
	section:integer("upstream_tries_left", u.tries)
	local status = u.status
	section:integer("upstream_status", status ~= 0 and status or nil)
end

-- The upstream requests so far, as in the $upstream_* variables.
local function add_upstream_states(section, r)
	local states = r.upstream_states
	if not states or states.nelts == 0 then return end
	local rows = section:table("upstreams", { { "peer", "text" }, { "status", "integer" }, { "connected", "seconds" },
		{ "header", "seconds" }, { "response", "seconds" }, { "received", "bytes" }, { "sent", "bytes" } })
	local function seconds(msec) return msec and msec ~= -1 and msec / 1000 or nil end
	for i, state in list.array(states, "ngx_http_upstream_state_t") do
		if i >= 100 then break end
		rows:row(state.peer and str.try(state.peer, 256), state.status ~= 0 and state.status or nil, seconds(state.connect_time),
			seconds(state.header_time), nil, maybe.get(state, "bytes_received"), maybe.get(state, "bytes_sent"))
	end
end

-- ---- Lua ----

local function add_stack(section, stack)
	local rows = section:table("frames", { { "frame", "integer", label = "#" }, { "function", "text" }, { "kind", "text" },
		{ "file", "text" }, { "line", "integer" }, { "called", "text", label = "CALLED AS" } })
	for i, row in ipairs(stack.rows) do
		if i > MOST_FRAMES then break end
		rows:row(i - 1, row.title, row.kind, row.file, row.line, row.called)
	end
	local left = #stack.rows - MOST_FRAMES + stack.more
	if left > 0 then section:note(("%d more frames"):format(left), "luajit.bt shows them") end
	if stack.why then section:warning("the stack ends early: " .. stack.why) end
end

-- The coroutines of a request, and the stack of each.
local function add_lua(t, report, one)
	local coroutines = one.lua and one.lua.coroutines or {}
	if #coroutines == 0 then return end
	local rows = report:section("lua", "nginx: Lua of the request"):table("coroutines", { { "coroutine", "address" },
		{ "kind", "text" }, { "status", "text" }, { "waits", "text", label = "WAITS FOR" }, { "lua", "text" } })
	for i, co in ipairs(coroutines) do
		local stack, why = luastack.of(t, co.co)
		rows:row(co.co, co.kind, co.current and "runs" or co.wait and "waits" or co.status, co.wait,
			luastack.brief(stack, 2) or why)
		if stack and i <= 20 then
			add_stack(report:section("lua_" .. i, ("nginx: Lua stack of the %s %s"):format(co.kind, xcore.hex(co.co))), stack)
		end
	end
end

-- ---- the command ----

-- The request at an address, or of the connection at an address.
local function find(t, addr)
	local all = request.all(t, true)
	for _, one in ipairs(all) do
		if one.addr == addr then return one, all end
	end
	for _, one in ipairs(all) do
		if one.connection == addr and one.is_main then return one, all end
	end
	error(xcore.error("not_found", ("there is no request in flight at %s"):format(xcore.hex(addr)),
		"nginx.reqs lists them"))
end

local function add_subrequests(t, section, one, all)
	local under = {}
	for _, other in ipairs(all) do
		if other.main == one.addr and not other.is_main then under[#under + 1] = other end
	end
	if #under > 0 then reqs.add(t, section, under, 100) end
end

function req.req(t, report, given)
	local options = args.parse(given, {}, 1)
	local addr = options[1] and args.number("req", options[1])
	if not addr then error(xcore.error("usage", "which request?", "nginx.req TARGET ADDRESS, as nginx.reqs shows it")) end
	local one, all = find(t, addr)
	local section = report:section("request", "nginx: request " .. xcore.hex(one.addr))
	if one.doing then section:headline(one.doing) end
	local r = one.value
	damage.part(section, "its facts", add_facts, t, section, one)
	damage.part(section, "its upstream", add_upstream, section, one)
	damage.part(section, "its upstream requests", add_upstream_states, section, r)
	damage.part(section, "its subrequests", add_subrequests, t, section, one, all)
	damage.part(section, "its buffers", add_buffers, section, r, one.lua)
	for _, text in ipairs(reqs.findings(one)) do section:warning(text) end
	for _, problem in ipairs(one.problems) do section:problem(problem[1], problem[2]) end
	damage.part(section, "its coroutines", add_lua, t, report, one)
	if one.fake then return end
	add_pairs(report, "headers_in", "nginx: headers of the request", headers_of, r.headers_in.headers)
	add_pairs(report, "headers_out", "nginx: headers of the answer", headers_of, r.headers_out.headers)
	add_pairs(report, "variables", "nginx: evaluated variables", variables_of, t, r)
	raw.add(t, report:section("raw", "nginx: the request as received"), r)
end

return req
