-- proof.lua: checks that types declared by cdef.lua match memory. Each proof compares two places that hold the same
-- fact:
--
--	cycle.modules[i].index are 0 … modules_n - 1             where modules are in the cycle
--	cycle.connections[i].read = &cycle.read_events[i]        sizes of ngx_connection_t and ngx_event_t
--	cycle.listening.size, shared_memory.size, open_files.size   sizes of their elements, as the compiler had them
--	strlen(conf_file.data) = conf_file.len                   the end of ngx_cycle_t
--	r->main->main = r->main, u->output.pool = r->pool        ngx_http_request_t, ngx_http_upstream_t
--
-- Damage alone disproves nothing: nine of ten connections and requests must match.
local xcore = require "xcore"

local proof = {}

local MOST_MODULES, MOST_CONNECTIONS = 10000, 16777216
local LOOKED_AT = 4096
local HTTP = 0x50545448

-- A value of a type of D.
local function value(t, D, type, addr)
	return t:value(D:type(type), addr)
end

local function address(pointer)
	return pointer and xcore.addr(pointer) or 0
end

-- Dynamic modules are inserted by their order; their indexes are free ones.
local function in_place(t, D, cycle)
	local count, array = cycle.modules_n, cycle.modules
	if not array or count < 2 or count > MOST_MODULES then return nil end
	local word, base, seen = t.pointer_size, xcore.addr(array), {}
	for i = 0, count - 1 do
		local index = value(t, D, "ngx_module_t", t:ptr(base + i * word)).index
		if index >= count or seen[index] then return nil end
		seen[index] = true
	end
	return ("%d modules have an index each"):format(count)
end

local function own_pool(_, _, cycle)
	local pool = cycle.pool
	local at, last, finish = xcore.addr(pool), xcore.addr(pool.d.last), xcore.addr(pool.d["end"])
	return at < last and last <= finish and pool.max > 0 and pool.max < finish - at and "the cycle's pool is in order"
end

local function elements(_, D, cycle)
	local function same(list, type)
		return list.nelts == 0 or list.size == xcore.sizeof(D:type(type))
	end
	return same(cycle.listening, "ngx_listening_t") and cycle.shared_memory.size == xcore.sizeof(D:type "ngx_shm_zone_t")
		and cycle.open_files.size == xcore.sizeof(D:type "ngx_open_file_t") and "elements of its lists have their sizes"
end

local function strings(t, _, cycle)
	for _, name in ipairs { "conf_file", "prefix" } do
		local text = cycle[name]
		if text.len > 4096 or not text.data or t:read(xcore.addr(text.data), text.len):find "%z" then return nil end
	end
	return "its texts are as long as they say"
end

-- The connections whose two events both match the cycle; nil for a process without connections.
local function connections(t, D, cycle)
	local count, base = cycle.connection_n, address(cycle.connections)
	if count < 1 or count > MOST_CONNECTIONS then return nil end
	if base == 0 then return "no connections, as a master" end
	local read, write = xcore.addr(cycle.read_events), xcore.addr(cycle.write_events)
	local size, step = xcore.sizeof(D:type "ngx_connection_t"), xcore.sizeof(D:type "ngx_event_t")
	local fit, most = 0, math.min(count, LOOKED_AT)
	for i = 0, most - 1 do
		local c = value(t, D, "ngx_connection_t", base + i * size)
		if xcore.addr(c.read) == read + i * step and xcore.addr(c.write) == write + i * step then fit = fit + 1 end
	end
	return fit * 10 >= most * 9 and ("%d of %d connections have their events"):format(fit, most) or nil
end

-- ---- requests ----

-- A started upstream has the pool of its request: a member after the space for --with-compat.
local function upstream_fits(r)
	local pool = r.upstream and address(r.upstream.output.pool) or 0
	return pool == 0 or pool == xcore.addr(r.pool)
end

-- Requests that Lua creates have no time and no client; subrequests have no http_connection.
local function is_request(t, D, addr)
	local r = value(t, D, "ngx_http_request_t", addr)
	local main, pool = r.main, r.pool
	if xcore.addr(main.main) ~= xcore.addr(main) or main.signature ~= HTTP or not r.connection then return false end
	if xcore.addr(main) == addr and r.start_sec > 0 and not r.http_connection then return false end
	return xcore.addr(pool) < xcore.addr(pool.d["end"]) and upstream_fits(r)
end

-- The number of connections that lead to requests, and the number of valid requests.
local function requests(t, D, cycle)
	local base, size = address(cycle.connections), xcore.sizeof(D:type "ngx_connection_t")
	local seen, fit = 0, 0
	for i = 0, base ~= 0 and math.min(cycle.connection_n, LOOKED_AT) - 1 or -1 do
		local data = t:ptr(base + i * size)
		if data ~= 0 and t:readable(data, 4) == 4 and t:u32(data) == HTTP then
			local done, good = pcall(is_request, t, D, data)
			seen, fit = seen + 1, fit + (done and good and 1 or 0)
		end
	end
	return seen, fit
end

-- ---- the Lua module ----

local function module_of(t, D, cycle, name)
	local base, word = xcore.addr(cycle.modules), t.pointer_size
	for i = 0, cycle.modules_n - 1 do
		local module = value(t, D, "ngx_module_t", t:ptr(base + i * word))
		local done, text = pcall(xcore.str, module.name, 128)
		if done and text == name or t:symbolize(xcore.addr(module)) and xcore.symbol(module) == name then return module end
	end
end

-- Is there a ring of queue links at a head?
local function ring(t, head)
	local at, word = xcore.addr(head), t.pointer_size
	local prev, next = t:ptr(at), t:ptr(at + word)
	return t:ptr(prev + word) == at and t:ptr(next) == at
end

-- The proofs of the Lua module's types: words, nil if they do not match, false if nginx lacks the module or its http
-- block.
function proof.lua_module(t, D, addr)
	local cycle = value(t, D, "ngx_cycle_t", addr)
	local http, module = module_of(t, D, cycle, "ngx_http_module"), module_of(t, D, cycle, "ngx_http_lua_module")
	local contexts = http and module and cycle.conf_ctx and cycle.conf_ctx[http.index]
	if not contexts then return false end
	local confs = value(t, D, "ngx_http_conf_ctx_t", xcore.addr(contexts))
	local conf = value(t, D, "ngx_http_lua_main_conf_t", xcore.addr(confs.main_conf[module.ctx_index]))
	if not conf.lua or not ring(t, conf.free_lua_threads) or not ring(t, conf.cached_lua_threads) then return nil end
	if address(conf.cycle) ~= addr and address(conf.cycle) == 0 then return nil end
	return { "the Lua module's queues of threads are closed" }
end

-- ---- all together ----

local NEEDED = { { "modules", in_place }, { "the cycle's pool", own_pool }, { "lists", elements }, { "texts", strings },
	{ "connections", connections } }

local function prove(t, D, addr)
	local cycle = value(t, D, "ngx_cycle_t", addr)
	local words, failed = {}, {}
	for _, one in ipairs(NEEDED) do
		local done, text = pcall(one[2], t, D, cycle)
		if done and text then words[#words + 1] = text else failed[#failed + 1] = one[1] end
	end
	local done, seen, fit = pcall(requests, t, D, cycle)
	if done and seen > 0 then
		if fit * 10 >= seen * 9 then words[#words + 1] = ("%d of %d requests are in order"):format(fit, seen) else failed[#failed + 1] = "requests" end
	end
	return words, failed
end

-- Without symbols, the cycle is found by its pointers: ngx_cycle_t.
local function candidates(t, D)
	if t:has_symbol "ngx_cycle" then
		local addr = t:ptr(t:symbol "ngx_cycle".addr)
		return function(_, last) return last == nil and addr ~= 0 and addr or nil end
	end
	local shape = { conf_ctx = "pointer", pool = "pointer", log = "pointer", modules = "pointer", modules_n = { 8, MOST_MODULES },
		connection_n = { 1, MOST_CONNECTIONS } }
	return t:find { signature = { D:type "ngx_cycle_t", shape }, writable = true }
end

-- The address of the cycle that matches D's types, and the proofs in words; or nil, nil and a list of mismatches.
function proof.cycle(t, D)
	local least
	for addr in candidates(t, D) do
		local words, failed = prove(t, D, addr)
		if #failed == 0 then return addr, words end
		if not least or #failed < #least then least = failed end
	end
	return nil, nil, least or { "its cycle was not found" }
end

return proof
