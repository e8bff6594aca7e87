-- timers.lua: timers and posted events: time, purpose, owner.
--
--	ngx_event_timer_rbtree → ngx_event_t { data, handler, timer.key }     key: milliseconds of nginx's clock, ngx_current_msec
--	ngx_posted_accept_events, ngx_posted_next_events, ngx_posted_events   queues of ngx_event_t by `queue`
--
-- The event of a connection is in the cycle's arrays; one in a ngx_http_lua_co_ctx_t (sleep, semaphores, …) leads to
-- its coroutine; Lua timers have the function given to ngx.timer.at.
local xcore = require "xcore"
local args = require "lib.args"
local conn = require "nginx.conn"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local list = require "nginx.list"
local luastack = require "nginx.luastack"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local reqs = require "nginx.reqs"
local request = require "nginx.request"

local timers = {}

local MOST = 1000000

-- ---- owners ----

local function of_connection(t, c, index, event, titles)
	local one = conn.describe(t, c, index, cycle.now(t))
	return { what = one.kind .. (event.write ~= 0 and ", write" or ", read"), who = one.peer, request = one.request,
		title = one.request and titles[one.request], connection = one.addr }
end

-- The function given to ngx.timer.at is the first value on the stack of the new coroutine: its text, nil if another
-- value is there.
local function callback_of(t, event)
	local ctx = t:value("ngx_http_lua_timer_ctx_t", maybe.addr(event, "data"))
	local text = luastack.first(t, xcore.addr(ctx.co))
	return text and text:match "^[%a ]*function .*", ctx
end

-- For a Lua timer: its function and its ngx_http_lua_timer_ctx_t. A running worker may have continued since the first
-- read: ngx.timer.every creates another coroutine for the next call each time.
function timers.callback(t, event)
	local text, ctx = callback_of(t, event)
	if not text and t.live then text, ctx = xcore.retry(function() return callback_of(t, event) end) end
	return text, ctx
end

local function of_lua_timer(t, event)
	local text, ctx = timers.callback(t, event)
	local every = ctx.delay ~= 0
	return { what = every and ("lua timer, every %.3g s"):format(ctx.delay / 1000) or "lua timer", who = text, coroutine = xcore.addr(ctx.co),
		premature = ctx.premature ~= 0 }
end

-- An event within the context of a coroutine: the coroutine whose context begins at this distance before it.
local function of_coroutine(event, what, by_context)
	local at = xcore.addr(event) - xcore.offsetof("ngx_http_lua_co_ctx_t", "sleep")
	local owner = by_context[at]
	local co = xcore.target:value("ngx_http_lua_co_ctx_t", at)
	return { what = what, who = owner and owner.line, request = owner and owner.request, title = owner and owner.title,
		coroutine = maybe.addr(co, "co") }
end

local COROUTINES = { ngx_http_lua_sleep_handler = "lua sleep", ngx_http_lua_sema_timeout_handler = "lua semaphore" }

local function whose(t, event, titles, by_context)
	local handler = func.name(event.handler)
	local c, index = conn.of_event(t, event)
	if c then return of_connection(t, c, index, event, titles) end
	if handler == "ngx_http_lua_timer_handler" then return of_lua_timer(t, event) end
	if COROUTINES[handler or ""] then return of_coroutine(event, COROUTINES[handler], by_context) end
	return { what = handler and handler:gsub("^ngx_", ""):gsub("_handler$", ""):gsub("_", " ") or "unknown" }
end

-- Titles of requests by address, and owner and position by coroutine context.
local function names(t)
	local titles, by_context = {}, {}
	for _, one in ipairs(damage.try(request.all, t) or {}) do
		titles[one.addr] = reqs.title(one)
		for _, co in ipairs(one.lua and one.lua.coroutines or {}) do
			by_context[co.addr] = { request = one.addr, title = titles[one.addr],
				line = luastack.line((luastack.of(t, co.co)), true) }
		end
	end
	return titles, by_context
end

local function describe(t, event, titles, by_context, msec)
	local one = damage.try(whose, t, event, titles, by_context) or { what = "cannot be read" }
	one.addr, one.handler = xcore.addr(event), func.name(event.handler)
	one.left = msec and (event.timer.key - msec) / 1000
	one.cancelable = (maybe.get(event, "cancelable") or 0) ~= 0
	return one
end

-- All timers, the first due first: {left, what, who, request, title, handler, addr, …}; and the reason if the list is
-- incomplete.
function timers.all(t)
	local tree = cycle.var(t, "ngx_event_timer_rbtree", "ngx_rbtree_t")
	local found = {}
	if not tree then return found, "the location of its timers is unknown" end
	local titles, by_context = names(t)
	local msec = cycle.now(t)
	local done, why = damage.try(function()
		for event in list.rbtree(tree, "ngx_event_t", "timer") do
			found[#found + 1] = describe(t, event, titles, by_context, msec)
			if #found == MOST then break end
		end
		return true
	end)
	return found, not done and why or nil
end

-- ---- commands ----

local COLUMNS = {
	{ "left", "seconds", label = "DUE IN" }, { "what", "text" }, { "who", "text", label = "WHO" },
	{ "request", "text", secret = true }, { "request_address", "address", label = "REQUEST AT", verbose = true },
	{ "handler", "text", verbose = true }, { "coroutine", "address", verbose = true }, { "event", "address", verbose = true },
}

local function add(section, found, limit)
	local rows = section:table("timers", COLUMNS)
	for i, one in ipairs(found) do
		if i > limit then break end
		rows:row(one.left, one.what, one.who, one.title, one.request, one.handler, one.coroutine, one.addr)
	end
	if #found > limit then section:note(("%d more timers"):format(#found - limit), "--limit N shows more") end
end

-- The number of timers of each kind, as text.
local function summary(found)
	local by, order = {}, {}
	for _, one in ipairs(found) do
		local what = one.what:match "^[^,]*"
		if not by[what] then order[#order + 1] = what end
		by[what] = (by[what] or 0) + 1
	end
	table.sort(order, function(a, b) return by[a] > by[b] or by[a] == by[b] and a < b end)
	local parts = {}
	for i, what in ipairs(order) do
		if i <= 5 then parts[i] = by[what] .. " " .. what end
	end
	return table.concat(parts, ", ") .. (#order > 5 and ", …" or "")
end

function timers.timers(t, report, given)
	local options = args.parse(given, { limit = "number" })
	local found, why = timers.all(t)
	local section = report:section("timers", "nginx: timers")
	section:headline(#found == 0 and "no timers" or ("%d timers: %s"):format(#found, summary(found)))
	local late = 0
	for _, one in ipairs(found) do
		if one.left and one.left < 0 then late = late + 1 end
	end
	section:count("timers", #found, { quiet = true })
	section:count("overdue", late, { quiet = late == 0 })
	add(section, found, options.limit or 1000)
	if why then section:problem("the timer tree is damaged", why) end
end

local QUEUES = { "ngx_posted_accept_events", "ngx_posted_events", "ngx_posted_next_events", "ngx_posted_delayed_events" }

function timers.posted(t, report, given)
	args.parse(given, {})
	local section = report:section("posted", "nginx: posted events")
	local titles, by_context = names(t)
	local rows = section:table("events", { { "queue", "text" }, { "what", "text" }, { "who", "text" },
		{ "request", "text", secret = true }, { "handler", "text" }, { "event", "address" } })
	local count = 0
	for _, name in ipairs(QUEUES) do
		local queue = cycle.var(t, name, "ngx_queue_t")
		local done, why = damage.try(function()
			if not queue or not queue.next then return true end
			for event in list.queue(queue, "ngx_event_t", "queue") do
				local one = describe(t, event, titles, by_context)
				rows:row(name:match "posted_(.*)", one.what, one.who, one.title, one.handler, one.addr)
				count = count + 1
				if count == MOST then break end
			end
			return true
		end)
		if not done then section:problem(name .. " is damaged", why) end
	end
	section:headline(count == 0 and "no events are posted"
		or ("%d events are posted for this iteration of the event loop"):format(count))
end

return timers
