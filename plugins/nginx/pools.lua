-- pools.lua: all pools of the process and their owners.
--
-- nginx has no list of its pools. Most are found through known owners: the cycle, connections in use, requests,
-- HTTP/2 connections, regular expressions of the Lua module. The others are found by the form of a pool at the
-- beginning of a live malloc block:
--
--	p + header <= d.last <= d.end, 0 < max < a page, current is one of its blocks, large, cleanup, chain and log lead to memory or are NULL
--
-- They have no owner: they leaked, or belong to an unknown module. The pointer graph of the heap tells the two apart.
local xcore = require "xcore"
local conn = require "nginx.conn"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local pool = require "nginx.pool"
local request = require "nginx.request"
local slab = require "nginx.slab"
local str = require "nginx.str"

local pools = {}

local MOST_FOUND = 100000
local MOST_FAILED = 100 -- a block that was too small 6 times is skipped from then on
local MOST_BLOCK = 1 << 30
local LOOKS = 2 -- more for a running process

-- ---- owners ----

local function of_cycle(t, add)
	local of = cycle.of(t)
	add(maybe.addr(of, "pool"), "cycle", "the configuration")
	local old = maybe.get(of, "old_cycle")
	if old and xcore.addr(old) ~= xcore.addr(of) then add((damage.try(maybe.addr, old, "pool")), "old cycle", "the configuration before") end
	local temp = cycle.var(t, "ngx_temp_pool", "ngx_pool_t *")
	if temp then add(xcore.addr(temp), "old cycle", "cycles that still have connections") end
end

-- The request of a Lua timer shares its pool with its connection, which has no socket.
local function of_requests(t, add, scan)
	local addresses, via = request.find(t, scan)
	for _, addr in ipairs(addresses) do
		local r = t:value("ngx_http_request_t", addr)
		local orphan = via[addr] == "signature" and maybe.get(r, "connection.fd") ~= -1
		local line = str.try(r.request_line, 256)
		local text = line and line ~= "" and line or maybe.get(r, "connection.fd") == -1 and "Lua without a client" or "request without a line"
		add(maybe.addr(r, "pool"), orphan and "request without owner" or "request", text, addr)
		local stream = maybe.get(r, "stream")
		if stream and layout.has(t, "ngx_http_v2_stream_t") then
			add((damage.try(maybe.addr, stream, "pool")), "http2 stream", text, addr)
			add((damage.try(maybe.addr, stream, "connection.pool")), "http2 connection", nil, addr)
		end
	end
end

local function of_connections(t, add)
	for _, one in ipairs((conn.all(t))) do
		local text = one.kind .. (one.peer and " " .. one.peer or "")
		add((damage.try(maybe.addr, one.value, "pool")), one.accepted and "connection" or "other connection", text, one.addr)
		if one.kind == "http2, idle" or one.kind == "http2" then
			local data = maybe.addr(one.value, "data")
			local h2c = data ~= 0 and layout.has(t, "ngx_http_v2_connection_t") and t:value("ngx_http_v2_connection_t", data)
			if h2c and damage.try(maybe.addr, h2c, "connection") == one.addr then
				add((damage.try(maybe.addr, h2c, "pool")), "http2 connection", text, data)
			end
		end
	end
end

-- A pending Lua timer has a pool for its future request.
local function of_lua_timers(t, add)
	local tree = cycle.var(t, "ngx_event_timer_rbtree", "ngx_rbtree_t")
	for event in list.rbtree(tree, "ngx_event_t", "timer") do
		local kind = (func.name(event.handler) or ""):match "^(ngx_%l+_lua)_timer_handler$"
		local data = kind and event.data and layout.has(t, kind .. "_timer_ctx_t") and t:value(kind .. "_timer_ctx_t", xcore.addr(event.data))
		if data then add((damage.try(maybe.addr, data, "pool")), "lua timer", "waits", xcore.addr(data)) end
	end
end

-- ---- by shape ----

local function shape(t)
	local either = "null or pointer"
	return { ["d.last"] = "pointer", ["d.end"] = "pointer", ["d.next"] = either, ["d.failed"] = { 0, MOST_FAILED },
		max = { 1, slab.page_size(t) - 1 }, current = "pointer", chain = either, large = either, cleanup = either, log = either }
end

local function in_order(t, addr, header)
	local p = t:value("ngx_pool_t", addr)
	local last, finish = xcore.addr(p.d.last), xcore.addr(p.d["end"])
	if last < addr + header or last > finish or finish - addr > MOST_BLOCK then return false end
	local one = pool.read(t, addr)
	return one.why == nil
end

-- Candidates: addresses of pools without a known owner. `known` has the addresses of blocks of the others.
local function by_shape(t, known)
	local found, header, size = {}, xcore.sizeof "ngx_pool_t", pool.sizer(t)
	for addr in t:find { signature = { "ngx_pool_t", shape(t) }, writable = true } do
		if #found >= MOST_FOUND then break end
		if not known[addr] then
			local bytes = size(addr)
			local done, good = pcall(in_order, t, addr, header)
			if bytes and done and good and xcore.addr(t:value("ngx_pool_t", addr).d["end"]) - addr <= bytes then found[#found + 1] = addr end
		end
	end
	return found
end

-- A regular expression compiled by Lua has its own pool, which contains it: ngx_http_lua_regex_t.pool.
local function is_regex(t, one)
	for _, type in ipairs { "ngx_http_lua_regex_t", "ngx_stream_lua_regex_t" } do
		if layout.has(t, type) and xcore.has(t:type(type), "pool") then
			local at = one.addr + xcore.sizeof "ngx_pool_t"
			if damage.try(maybe.addr, t:value(type, at), "pool") == one.addr then return true end
		end
	end
end

-- The holder of a pointer to a pool without an owner, from the heap; nil if there is none: then it leaked.
local function holder(t, addr)
	local heap = t:heap()
	local block = heap:at(addr)
	if not block or block.state == "leaked" then return nil end
	local path, kind = heap:path(block)
	if not path or #path == 0 then return nil end
	return #path > 1 and heap:whatis(path[#path - 1].addr) or kind
end

-- The longest text in a pool's first block, as a hint at its purpose.
local function text_in(t, one)
	local bytes = t:read(one.addr, math.min(one.list["d.last"][1] - one.addr, 4096))
	local best = ""
	for text in bytes:gmatch "[%g ]+" do
		if #text > #best then best = text end
	end
	return #best >= 6 and best:sub(1, 80) or nil
end

-- ---- all ----

local function collect(t, options)
	local seen, found, size = {}, {}, options.sizes and pool.sizer(t) or nil
	local lost = { bad = 0 }
	local function add(addr, kind, text, owner)
		if not addr or addr == 0 or seen[addr] then return end
		local one, why = damage.try(pool.read, t, addr, size)
		if not one then
			lost.bad, lost.why = lost.bad + 1, lost.why or why
			return
		end
		one.kind, one.text, one.owner = kind, text, owner
		found[#found + 1] = one
		for i = 1, one.blocks do seen[one.list[1][i]] = true end
	end
	return found, add, seen, lost
end

local function add_unowned(t, found, add, seen)
	for _, addr in ipairs(by_shape(t, seen)) do
		local before = #found
		add(addr, "unowned")
		local one = found[before + 1]
		if one and is_regex(t, one) then
			one.kind, one.text = "lua regex", "compiled by ngx.re"
		elseif one then
			one.holder = damage.try(holder, t, addr)
			one.kind = one.holder and "unknown owner" or "leaked"
			one.text = one.holder and "held by " .. one.holder or damage.try(text_in, t, one)
		end
	end
end

local SUSPICIOUS = { leaked = true, ["unknown owner"] = true, ["request without owner"] = true }

local function look(t, options)
	local found, add, seen, lost = collect(t, { sizes = options.sizes ~= false })
	damage.try(of_cycle, t, add)
	damage.try(of_requests, t, add, options.unowned ~= false or not t.live)
	damage.try(of_connections, t, add)
	damage.try(of_lua_timers, t, add)
	if options.unowned ~= false then add_unowned(t, found, add, seen) end
	return found, lost
end

-- The first bytes of a pool; those of an unowned pool do not change.
local function contents(t, one)
	return t:read(one.addr, math.min(one.list["d.last"][1] - one.addr, 2048))
end

-- The contents of suspicious pools, by address; nil if there are none.
local function suspicious(t, found)
	local list
	for _, one in ipairs(found) do
		if SUSPICIOUS[one.kind] then
			list = list or {}
			list[one.addr] = damage.try(contents, t, one)
		end
	end
	return list
end

-- In a running process, pools come and go during the search: only a pool that had no owner before and is unchanged
-- counts as unowned.
local function look_again(t, options, before)
	xcore.refresh()
	local found, lost = look(t, options)
	for _, one in ipairs(found) do
		if SUSPICIOUS[one.kind] and before[one.addr] ~= damage.try(contents, t, one) then one.kind, one.text = "changing", nil end
	end
	return found, lost
end

-- All pools, each as in pool.read with {kind, text, owner}, the largest first, and {bad, why} for unreadable ones.
-- options: sizes = false leaves large allocations unsized; unowned = false does not search for pools without an
-- owner.
function pools.all(t, options)
	options = options or {}
	local found, lost = look(t, options)
	for _ = 1, t.live and options.unowned ~= false and LOOKS or 0 do
		local before = suspicious(t, found)
		if not before then break end
		found, lost = look_again(t, options, before)
	end
	table.sort(found, function(a, b)
		if a.total ~= b.total then return a.total > b.total end
		return a.addr < b.addr
	end)
	return found, lost
end

return pools
