-- vars.lua: the addresses of nginx's global variables.
--
-- A program without any symbols does not give them: they are found in its data by their expected contents.
--
--	ngx_event_timer_rbtree  | root | sentinel | insert |   root is where the parents of a timer that is set lead to
--	ngx_cached_time         | pointer |                    to an ngx_time_t in the program's data, not before the newest request
--	ngx_current_msec        | ms |                         beside it, not before the newest connection
--
-- No clock or several may match: a match is used only if it is unique.
local xcore = require "xcore"

local vars = {}

local MOST, DEEPEST = 4096, 128
local LATE = 86400 -- maximum idle time of a worker in seconds
local UTC = 14 * 60 -- maximum offset of time zones in minutes

local known = {}

local function data_of(t, build)
	local of, ranges = t:module(build.data), {}
	for _, map in ipairs(t:maps()) do
		if of and map.writable and map.lo >= of.lo and map.hi <= of.hi then ranges[#ranges + 1] = { map.lo, map.hi } end
	end
	return ranges
end

-- Fields of connections in use: fn(connection).
local function each_connection(t, build, fn)
	local cycle = t:value("ngx_cycle_t", build.cycle)
	for i = 0, cycle.connections and math.min(cycle.connection_n, MOST) - 1 or -1 do
		local c = xcore.deref(cycle.connections + i)
		if c.fd ~= -1 then pcall(fn, c) end
	end
end

-- ---- timers ----

local function root_from(t, node)
	local parent = xcore.offsetof("ngx_rbtree_node_t", "parent")
	for _ = 1, DEEPEST do
		local above = t:ptr(node + parent)
		if above == 0 then return node end
		node = above
	end
end

local finders = {}

function finders.ngx_event_timer_rbtree(t, build)
	local root
	each_connection(t, build, function(c)
		for _, event in ipairs { c.read, c.write } do
			if not root and event.timer_set ~= 0 then root = root_from(t, xcore.addr(xcore.ref(event, "timer"))) end
		end
	end)
	if not root then return nil end
	for at in t:find { pointer_to = { root, root }, within = data_of(t, build) } do
		local sentinel = t:ptr(at + t.pointer_size)
		local node = t:value("ngx_rbtree_node_t", root)
		for _ = 1, DEEPEST do
			if not node or xcore.addr(node) == sentinel then break end
			node = node.left
		end
		if node and xcore.addr(node) == sentinel then return at end
	end
end

-- ---- the clock ----

-- The latest times in connections and requests: milliseconds of nginx's clock, seconds since 1970.
local function latest(t, build)
	local msec, sec = 0, 0
	each_connection(t, build, function(c)
		if xcore.has(c, "start_time") and c.start_time > msec then msec = c.start_time end
		local data = c.data and xcore.addr(c.data) or 0
		if data ~= 0 and t:u32(data) == 0x50545448 then sec = math.max(sec, t:value("ngx_http_request_t", data).start_sec) end
	end)
	return msec, sec
end

local function is_time(t, at, sec)
	local time = t:value("ngx_time_t", at)
	return time.sec >= sec and time.sec < sec + LATE and time.msec >= 0 and time.msec < 1000 and math.abs(time.gmtoff) <= UTC
end

-- The addresses of both.
local function clock(t, build)
	local msec, sec = latest(t, build)
	local ranges, found = data_of(t, build), {}
	if msec == 0 or sec == 0 then return nil end
	for _, range in ipairs(ranges) do
		for at in t:find { pointer_to = { range[1], range[2] }, within = ranges } do
			local done, good = pcall(function() return is_time(t, t:ptr(at), sec) end)
			for _, beside in ipairs(done and good and { at + 8, at - 8 } or {}) do
				local word = t:u64(beside)
				if word >= msec and word < msec + LATE * 1000 then found[#found + 1] = { at, beside } end
			end
		end
	end
	return #found == 1 and found[1] or nil
end

function finders.ngx_cached_time(t, build)
	if known.clock == nil then known.clock = clock(t, build) or false end
	return known.clock and known.clock[1]
end

function finders.ngx_current_msec(t, build)
	return finders.ngx_cached_time(t, build) and known.clock[2]
end

-- The address of a variable; nil if it is unknown. `build` comes from layout.declare: nil with debug information.
function vars.find(t, build, name)
	if t:has_symbol(name) then return t:symbol(name).addr end
	if not build or not finders[name] then return nil end
	if known[name] == nil then
		local done, at = pcall(finders[name], t, build)
		known[name] = done and at or false
	end
	return known[name] or nil
end

return vars
