-- reqs.lua: the table of requests in flight.
local xcore = require "xcore"
local args = require "lib.args"
local luastack = require "nginx.luastack"
local raw = require "nginx.raw"
local request = require "nginx.request"

local reqs = {}

-- On a narrow page, verbose columns are dropped, and of the others the last one is wrapped: the identity of a request
-- must stay readable.
local COLUMNS = {
	{ "age", "seconds" }, { "address", "address" }, { "doing", "text" }, { "lua", "text" }, { "request", "text", secret = true },
	{ "phase", "text", verbose = true }, { "pool", "bytes", verbose = true }, { "status", "integer", verbose = true },
	{ "host", "text", secret = true, verbose = true }, { "peer", "text", verbose = true },
	{ "subrequests", "count", verbose = true }, { "count", "integer", verbose = true, label = "REFERENCES" },
	{ "handler", "text", verbose = true }, { "found", "text", verbose = true, label = "FOUND BY" },
}

-- The title of a request in a table: its line, or the URI of a subrequest.
function reqs.title(one)
	if not one.is_main then return "  subrequest " .. (one.uri or "") end
	if one.fake then return "(lua " .. (one.lua and one.lua.phase or "handler") .. ")" end
	return one.line and (one.line:gsub(" HTTP/[%d.]+$", "")) or "(no line yet)"
end

-- The Lua position of a request: the line of the handler's coroutine, or of the running one.
function reqs.lua_line(t, one)
	local coroutines = one.lua and one.lua.coroutines or {}
	local best = coroutines[1]
	for _, co in ipairs(coroutines) do
		if co.current then best = co end
	end
	if not best or one.done then return nil end
	return luastack.line((luastack.of(t, best.co)), true)
end

-- Inconsistencies of a request: its reference count, or the lack of any pointer to it. A main request counts itself
-- and its subrequests; the running one may count once more.
function reqs.findings(one)
	local found = {}
	if one.via == "signature" and one.is_main and not one.fake then
		found[#found + 1] = ("request %s no longer has a connection: it is orphaned"):format(xcore.hex(one.addr))
	end
	if one.is_main and one.count == 0 then
		found[#found + 1] = ("nothing refers to request %s, but it is not freed"):format(xcore.hex(one.addr))
	elseif one.is_main and one.count < 1 + one.subrequests then
		found[#found + 1] = ("request %s counts %d references, fewer than itself plus its %d subrequests"):format(
			xcore.hex(one.addr),
			one.count, one.subrequests)
	end
	return found
end

-- Selects the requests of clients, without those that Lua creates for its timers.
function reqs.count(list)
	local mains, subs, fakes = 0, 0, 0
	for _, one in ipairs(list) do
		if one.fake then fakes = fakes + 1 elseif one.is_main then mains = mains + 1 else subs = subs + 1 end
	end
	return mains, subs, fakes
end

function reqs.headline(list)
	local mains, subs, fakes = reqs.count(list)
	local text, oldest = ("%d requests in flight"):format(mains), nil
	if subs > 0 then text = text .. (", %d subrequests"):format(subs) end
	if fakes > 0 then text = text .. (", %d internal to Lua"):format(fakes) end
	for _, one in ipairs(list) do
		if one.age and one.is_main and one.age > (oldest or -1) then oldest = one.age end
	end
	return text .. (oldest and ("; the oldest %.1f s"):format(oldest) or "")
end

-- The table of requests in a section, at most `limit`; returns the number of omitted ones.
function reqs.add(t, section, list, limit)
	local rows, shown = section:table("requests", COLUMNS), 0
	for _, one in ipairs(list) do
		if shown == limit then break end
		rows:row(one.age, one.addr, one.doing, reqs.lua_line(t, one), reqs.title(one), one.phase, one.pool_bytes, one.status, one.host,
			one.peer, one.subrequests, one.count, one.handler, one.via)
		shown = shown + 1
	end
	return #list - shown
end

function reqs.trouble(section, list, lost)
	for _, one in ipairs(list) do
		for _, text in ipairs(reqs.findings(one)) do section:warning(text) end
		local first = not one.done and one.problems[1]
		if first then section:problem(("request %s: %s"):format(xcore.hex(one.addr), first[1]), first[2]) end
	end
	if lost.connections then
		section:problem("the connections cannot be read: requests are found by their signature", lost.connections)
	end
	if lost.bad > 0 then section:problem(("requests that cannot be read: %d"):format(lost.bad), lost.why) end
	if lost.stray > 0 then section:note(("stale pointers to requests: %d"):format(lost.stray)) end
end

local function add_raw(t, report, list, limit)
	for i, one in ipairs(list) do
		if i > limit then break end
		if one.is_main and not one.fake then
			local section = report:section("raw_" .. i, ("nginx: request %s as received"):format(xcore.hex(one.addr)))
			raw.add(t, section, one.value)
		end
	end
end

function reqs.reqs(t, report, given)
	local options = args.parse(given, { limit = "number", raw = "flag", scan = "flag" })
	local limit = options.limit or 1000
	local list, lost = request.all(t, options.scan)
	local section = report:section("requests", "nginx: requests in flight")
	section:headline(reqs.headline(list))
	local left = reqs.add(t, section, list, limit)
	if left > 0 then section:note(("%d more requests"):format(left), "--limit N shows more") end
	if t.live and not options.scan then
		section:note("requests without a connection are not searched for", "--scan searches all memory")
	end
	reqs.trouble(section, list, lost)
	if options.raw then add_raw(t, report, list, math.min(limit, 500)) end
end

return reqs
