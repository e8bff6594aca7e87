-- flame.lua: flame graphs of the Lua coroutines of requests and timers at one moment: by function and line, and by
-- what each waits for. A flame graph is never redacted, so it contains neither arguments nor peers.
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local list = require "nginx.list"
local luastack = require "nginx.luastack"
local damage = require "lib.damage"
local request = require "nginx.request"
local timers = require "nginx.timers"

local flame = {}

local MOST = 100000

local function name_of(row)
	local place = row.file and row.line and ("%s:%d"):format(row.file:match "[^/]*$", row.line)
	return (row.title or "function") .. (place and " " .. place or "")
end

-- The wait of a coroutine, without times, peers and counts.
local function wait_of(co)
	if co.current then return "(runs)" end
	local wait = co.wait or co.status or "unknown"
	local socket = wait:match "^cosocket"
	return "(" .. (socket and socket .. (wait:match " %(%l+%)$" or "") or wait:gsub(",.*", "")) .. ")"
end

-- The path of a coroutine: `root`, its functions from the outermost, its wait.
local function path_of(t, root, co)
	local stack = luastack.of(t, co.co)
	local path = { root }
	if co.kind ~= "handler" then path[2] = co.kind end
	for i = stack and #stack.rows or 0, 1, -1 do path[#path + 1] = name_of(stack.rows[i]) end
	if not stack then path[#path + 1] = "(its stack cannot be read)" end
	if stack and stack.why then path[#path + 1] = "(cut short)" end
	path[#path + 1] = wait_of(co)
	return path
end

-- Adds the coroutines of selected requests, below the root that `wanted` returns.
local function add_coroutines(t, tree, wanted)
	local given = 0
	for _, one in ipairs((request.all(t))) do
		local root = not one.done and wanted(one)
		for _, co in ipairs(root and one.lua and one.lua.coroutines or {}) do
			if given < MOST and co.status ~= "dead" then
				tree:add(path_of(t, root, co), 1)
				given = given + 1
			end
		end
	end
end

-- Coroutines of requests and timers by phase.
function flame.waits(t, tree)
	cycle.of(t)
	add_coroutines(t, tree, function(one) return one.phase or "unknown phase" end)
end

-- ngx.timer.at and ngx.timer.every: { the delay of every, the function }.
local function pending(t, event)
	local text, ctx = timers.callback(t, event)
	return { "pending timers", ctx.delay ~= 0 and ("every %.3g s"):format(ctx.delay / 1000) or "once", text or "(unknown function)" }
end

local function add_pending(t, tree, all)
	local given = 0
	for event in list.rbtree(all, "ngx_event_t", "timer") do
		if given < MOST and func.name(event.handler) == "ngx_http_lua_timer_handler" then
			tree:add(damage.try(pending, t, event) or { "pending timers", "(cannot be read)" }, 1)
			given = given + 1
		end
	end
	return true
end

-- Lua timers: running ones with their light threads, and pending ones.
function flame.timers(t, tree)
	cycle.of(t)
	add_coroutines(t, tree, function(one) return one.fake and one.lua and one.lua.phase == "timer" and "running timers" end)
	local all = cycle.var(t, "ngx_event_timer_rbtree", "ngx_rbtree_t")
	local lost = not all and "(their location is unknown)"
		or not damage.try(add_pending, t, tree, all) and "(their tree is damaged: the list is incomplete)"
	if lost then tree:add({ "pending timers", lost }, 1) end
end

return flame
