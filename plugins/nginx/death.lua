-- death.lua: the activity of a worker at its death: the request, the Lua line, and the evidence.
--
-- The most reliable evidence comes first: a variable of the frames of the crash, innermost first; then the coroutine
-- that the VM runs; last the log context of a connection in the frames, which nginx keeps for its error log.
local xcore = require "xcore"
local luastack = require "nginx.luastack"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local request = require "nginx.request"

local death = {}

local DEEPEST = 128

-- Pointers to a struct in variables of frames: fn(address, how), innermost first; ends when fn returns true.
local function each_variable(frames, name, fn)
	for _, frame in ipairs(frames) do
		for _, variables in ipairs { frame:args(), frame:locals() } do
			for _, v in ipairs(variables) do
				local type = v.value and not v.guessed and v.type:strip()
				if type and type.kind == "pointer" and type.target:strip().name:find(name, 1, true) then
					if fn(xcore.addr(v.value), ("`%s` of %s"):format(v.name, frame.name or "a frame")) then return end
				end
			end
		end
	end
end

local function by_variable(t, frames)
	local found, how
	each_variable(frames, "ngx_http_request_s", function(addr, where)
		local done, proved = pcall(request.proved, t, addr)
		if done and proved then found, how = addr, where end
		return found ~= nil
	end)
	return found, how
end

-- The request with the running coroutine, from a list of requests.
local function by_coroutine(list, running)
	for _, one in ipairs(list) do
		for _, co in ipairs(one.lua and one.lua.coroutines or {}) do
			if running and co.co == running.co then return one.addr, "its coroutine runs" end
		end
	end
end

local function by_log(t, frames)
	local found, how
	each_variable(frames, "ngx_connection_s", function(addr, where)
		local r = damage.try(function()
			local ctx = t:value("ngx_connection_t", addr).log.data
			return maybe.addr(xcore.cast(ctx, "ngx_http_log_ctx_t *"), "current_request")
		end)
		local done, proved = pcall(request.proved, t, r or 0)
		if done and proved then found, how = r, "the log context of " .. where end
		return found ~= nil
	end)
	return found, how
end

-- Is the process dead, or at least not waiting for events? A core of a live worker usually shows it in epoll_wait.
local function frames_of(t)
	local done, thread = pcall(t.thread, t)
	if not done then return {} end
	return (thread:frames(DEEPEST))
end

local WAITING = { ngx_epoll_process_events = true, ngx_poll_process_events = true, ngx_select_process_events = true,
	ngx_kqueue_process_events = true }

-- The frame of nginx's event loop, if the process only waits in it.
local function idle(frames)
	for i, frame in ipairs(frames) do
		if WAITING[frame.name or ""] then return i <= 5 end
		if i > 5 then return false end
	end
	return false
end

-- The activity: {request, how, coroutine, stack, vm_doing, idle, function}; `list` contains all requests.
function death.of(t, list)
	local frames = frames_of(t)
	local found = { idle = idle(frames), frames = #frames, func = frames[1] and frames[1].name }
	if found.idle or #frames == 0 then return found end
	local running = luastack.running(t)
	found.request, found.how = by_variable(t, frames)
	if not found.request then found.request, found.how = by_coroutine(list, running) end
	if not found.request then found.request, found.how = by_log(t, frames) end
	if running then
		found.coroutine, found.vm_doing = running.co, running.doing
		found.stack = luastack.of(t, running.co)
	end
	return found
end

return death
