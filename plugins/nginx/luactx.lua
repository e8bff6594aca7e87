-- luactx.lua: the Lua module's data of a request: its coroutines, and what each of them waits for.
--
--	r->ctx[ngx_http_lua_module.ctx_index] → ngx_http_lua_ctx_t
--	    entry_co_ctx   the handler's coroutine       { co, co_status, cleanup, sleep, … }
--	    user_co_ctx    a list of the others: light threads (is_uthread) and coroutine.create's
--	    cur_co_ctx     the one that runs
--
-- A waiting coroutine has set `cleanup` to the function that would end the wait; its name identifies the wait.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local net = require "nginx.net"

local luactx = {}

-- ngx_http_lua_common.h: the phase whose handler Lua runs for.
luactx.PHASES = {
	[0x0001] = "set", [0x0002] = "rewrite", [0x0004] = "access", [0x0008] = "content", [0x0010] = "log", [0x0020] = "header filter",
	[0x0040] = "body filter", [0x0080] = "timer", [0x0100] = "init worker", [0x0200] = "balancer", [0x0400] = "ssl certificate",
	[0x0800] = "ssl session store", [0x1000] = "ssl session fetch", [0x2000] = "exit worker", [0x4000] = "ssl client hello",
	[0x8000] = "server rewrite",
}
local STATUS = { [0] = "running", "suspended", "normal", "dead" }
local MOST = 10000

-- Prefixes of names; the first match counts.
local WAITS = {
	{ "ngx_http_lua_sleep_cleanup", "sleep" }, { "ngx_http_lua_req_body_cleanup", "the request's body" },
	{ "ngx_http_lua_flush_cleanup", "the client to take what was sent" }, { "ngx_http_lua_sema", "semaphore" },
	{ "ngx_http_lua_coctx_cleanup", "cosocket" }, { "ngx_http_lua_coctx_udp_cleanup", "udp cosocket" },
	{ "ngx_http_lua_tcp_resolve_cleanup", "resolver" }, { "ngx_http_lua_udp_resolve_cleanup", "resolver" },
	{ "ngx_http_lua_tcp_queue_conn_op_cleanup", "a place in a cosocket pool" }, { "ngx_http_lua_pipe", "a child process" },
	{ "ngx_http_lua_worker_thread", "worker thread" }, { "ngx_http_lua_ssl", "tls" },
}

-- The peer of a cosocket (ngx_http_lua_socket_tcp_upstream_t): one from a pool has no address, but the name of its
-- pool is the address, or a name that the program chose.
function luactx.socket_peer(t, u)
	local peer = net.peer(t, u.peer)
	if not peer and maybe.get(u, "socket_pool") then peer = t:cstring(xcore.addr(u.socket_pool, "key"), 256) end
	return peer
end

-- "cosocket 127.0.0.1:6379 (read)", for the socket in a coroutine's data.
local function socket_text(t, co)
	local u = t:value("ngx_http_lua_socket_tcp_upstream_t", maybe.addr(co, "data"))
	local peer = luactx.socket_peer(t, u)
	local doing = u.conn_waiting ~= 0 and "connect" or u.read_waiting ~= 0 and "read" or u.write_waiting ~= 0 and "write" or nil
	return "cosocket" .. (peer and " " .. peer or "") .. (doing and " (" .. doing .. ")" or "")
end

-- What a coroutine waits for; nil if it does not wait or if that is unknown.
local function wait_of(t, co, msec, threads)
	if co.sleep.timer_set ~= 0 then return msec and ("sleep, %.1f s left"):format((co.sleep.timer.key - msec) / 1000) or "sleep" end
	local subrequests = maybe.get(co, "pending_subreqs") or 0
	if subrequests > 0 then return subrequests == 1 and "a subrequest" or subrequests .. " subrequests" end
	local cleanup = func.name(co.cleanup)
	for _, one in ipairs(WAITS) do
		if cleanup and cleanup:sub(1, #one[1]) == one[1] then
			return one[2] == "cosocket" and damage.try(socket_text, t, co) or one[2]
		end
	end
	if (maybe.get(co, "flushing") or 0) ~= 0 then return "the client to take what was sent" end
	if threads then return "a light thread" end
	return cleanup and "what " .. cleanup .. " ends"
end

-- One coroutine: {co, kind, status, wait, sleep, addr, current}.
local function describe(t, ctx, co, kind, msec, threads)
	local found = { co = maybe.addr(co, "co"), kind = kind, addr = xcore.addr(co), status = STATUS[co.co_status] }
	found.current = maybe.addr(ctx, "cur_co_ctx") == found.addr
	found.wait = not found.current and found.status ~= "dead" and damage.try(wait_of, t, co, msec, threads) or nil
	if co.sleep.timer_set ~= 0 and msec then found.sleep = (co.sleep.timer.key - msec) / 1000 end
	return found
end

-- Does the handler's coroutine wait for one of these coroutines?
local function waited(others)
	for _, co in ipairs(others) do
		if co.waited_by_parent ~= 0 then return true end
	end
	return false
end

local function of(t, r)
	local module = cycle.module(t, "ngx_http_lua_module")
	local pointer = module and r.ctx and r.ctx[module.ctx_index]
	if not pointer then return nil end
	local ctx = xcore.deref(xcore.cast(pointer, "ngx_http_lua_ctx_t *"))
	local msec, others = cycle.now(t), {}
	if ctx.user_co_ctx then
		for _, co in list.list(ctx.user_co_ctx, "ngx_http_lua_co_ctx_t") do
			if #others < MOST and co.co then others[#others + 1] = co end
		end
	end
	local found = { ctx = ctx, addr = xcore.addr(ctx), phase = luactx.PHASES[ctx.context], light = ctx.uthreads, coroutines = {} }
	if ctx.entry_co_ctx.co then
		found.coroutines[1] = describe(t, ctx, ctx.entry_co_ctx, "handler", msec, waited(others))
	end
	for _, co in ipairs(others) do
		local kind = maybe.get(co, "is_uthread") == 1 and "light thread" or "coroutine"
		found.coroutines[#found.coroutines + 1] = describe(t, ctx, co, kind, msec)
	end
	return found
end

-- The Lua data of a request: {ctx, addr, phase, light, coroutines}; nil if there is none. Raises read errors.
function luactx.of(t, r)
	if not layout.has(t, "ngx_http_lua_ctx_t") then return nil end
	return of(t, r)
end

return luactx
