-- conns.lua: the table of connections, compared with stub_status.
local args = require "lib.args"
local conn = require "nginx.conn"
local damage = require "lib.damage"
local reqs = require "nginx.reqs"
local request = require "nginx.request"

local conns = {}

local COLUMNS = {
	{ "fd", "integer" }, { "kind", "text" }, { "peer", "text" }, { "own", "text", label = "LOCAL", verbose = true }, { "age", "seconds" },
	{ "requests", "count" }, { "times_out", "seconds", label = "TIMES OUT IN" }, { "tls", "bool", verbose = true },
	{ "request", "text", secret = true }, { "request_address", "address", verbose = true, label = "REQUEST AT" },
	{ "sent", "bytes", verbose = true }, { "handler", "text", verbose = true },
	{ "write_handler", "text", verbose = true }, { "index", "integer", verbose = true }, { "address", "address", verbose = true },
}

-- The number of each kind: {{kind, count, oldest}…}, the largest first.
function conns.kinds(list)
	local by, kinds = {}, {}
	for _, one in ipairs(list) do
		if not by[one.kind] then
			by[one.kind] = { kind = one.kind, count = 0 }
			kinds[#kinds + 1] = by[one.kind]
		end
		local kind = by[one.kind]
		kind.count = kind.count + 1
		if one.age and one.age > (kind.oldest or -1) then kind.oldest = one.age end
	end
	table.sort(kinds, function(a, b)
		if a.count ~= b.count then return a.count > b.count end
		return a.kind < b.kind
	end)
	return kinds
end

-- "40 request, 15 upstream, 3 keepalive"
local function kinds_text(kinds)
	local parts = {}
	for i, one in ipairs(kinds) do
		if i > 4 then break end
		parts[i] = one.count .. " " .. one.kind
	end
	return table.concat(parts, ", ") .. (#kinds > 4 and ", …" or "")
end

-- The earliest timer of a connection, in seconds; nil without one.
local function times_out(one)
	local left = one.read_timer
	if one.write_timer and (not left or one.write_timer < left) then left = one.write_timer end
	return left and left / 1000
end

-- nginx's counters, computed from this worker's connections and requests.
function conns.own_status(list, requests)
	local own = { active = 0, waiting = 0, reading = 0, writing = 0 }
	for _, one in ipairs(list) do
		if one.accepted then own.active = own.active + 1 end
		if one.reusable then own.waiting = own.waiting + 1 end
	end
	for _, one in ipairs(requests) do
		local logged = one.phase == "log" -- no longer counted, though its flags say so
		if one.is_main and one.reading then own.reading = own.reading + 1 end
		if one.is_main and one.writing and not logged then own.writing = own.writing + 1 end
	end
	return own
end

local function add_status(section, told, own)
	local rows = section:table("status", { { "counter", "text" }, { "here", "count", label = "IN THIS WORKER" },
		{ "stub_status", "count", label = "STUB_STATUS" } })
	local more, fewer = false, false
	for _, name in ipairs { "active", "reading", "writing", "waiting" } do
		rows:row(name, own[name], told[name])
		more = more or told[name] and own[name] > told[name]
		fewer = fewer or told[name] and own[name] < told[name]
	end
	for _, name in ipairs { "accepted", "handled", "requests" } do rows:row(name, nil, told[name]) end
	if more then
		section:warning "stub_status counts fewer connections than this worker has: a wrong counter, or leaked connections"
	end
	if fewer then
		section:note "stub_status counts the connections of all workers, including those of workers that died"
	end
end

-- The request lines by request address; a subrequest has the line of its main request.
local function line_of(requests)
	local lines = {}
	for _, one in ipairs(requests) do lines[one.addr] = reqs.title(one) end
	return lines
end

local function sorted(list)
	local rank, kinds = {}, conns.kinds(list)
	for i, one in ipairs(kinds) do rank[one.kind] = i end
	local copy = table.move(list, 1, #list, 1, {})
	table.sort(copy, function(a, b)
		if a.kind ~= b.kind then return rank[a.kind] < rank[b.kind] end
		if (a.age or -1) ~= (b.age or -1) then return (a.age or -1) > (b.age or -1) end
		return a.index < b.index
	end)
	return copy
end

-- The summary: headline, totals and kinds.
function conns.summary(t, section, list, lost)
	local pool, kinds = conn.pool(t), conns.kinds(list)
	section:headline(("%d of %d connections in use: %s"):format(#list, pool.count, kinds_text(kinds)))
	section:count("connections", pool.count)
	section:count("in_use", #list)
	section:count("free", pool.free_count)
	local rows = section:table("kinds", { { "kind", "text" }, { "count", "count" }, { "oldest", "seconds" } })
	for _, one in ipairs(kinds) do rows:row(one.kind, one.count, one.oldest) end
	if pool.why then section:problem(pool.why) end
	if lost.bad > 0 then section:problem(("connections that cannot be read: %d"):format(lost.bad), lost.why) end
	if pool.free_count == 0 then section:warning("no connection is free: new ones are refused, idle ones closed", "worker_connections") end
end

function conns.conns(t, report, given)
	local options = args.parse(given, { limit = "number", kind = "text" })
	local list, lost = conn.all(t)
	local requests = damage.try(request.all, t) or {}
	local section = report:section("connections", "nginx: connections")
	conns.summary(t, section, list, lost)
	local told = conn.stub_status(t)
	if told then add_status(section, told, conns.own_status(list, requests)) end
	local rows, lines, shown, left = section:table("list", COLUMNS), line_of(requests), 0, 0
	for _, one in ipairs(sorted(list)) do
		if not options.kind or one.kind:find(options.kind, 1, true) then
			if shown < (options.limit or 1000) then
				rows:row(one.fd, one.kind, one.peer, one.own, one.age, one.requests, times_out(one), one.ssl,
					one.request and lines[one.request], one.request, one.sent, one.handler, one.write_handler, one.index, one.addr)
				shown = shown + 1
			else
				left = left + 1
			end
		end
	end
	if options.kind and shown + left == 0 then
		section:note(("no connection has the kind '%s'"):format(options.kind), "the kinds are above")
	end
	if left > 0 then section:note(("%d more connections"):format(left), "--limit N shows more") end
end

return conns
