-- claims.lua: the objects in nginx's pools, for `xcore heap`: malloc sees blocks of 4 KiB, in which nginx keeps
-- requests, buffers and headers.
--
-- The walk starts at known objects (the cycle, connections, requests, Lua contexts) and follows typed pointers. The
-- target of a pointer within a pool has the type of the pointer, because pools free nothing before they end. Pointers
-- to characters, void and functions, and unions, give no type.
local xcore = require "xcore"
local conn = require "nginx.conn"
local cycle = require "nginx.cycle"
local layout = require "nginx.layout"
local luactx = require "nginx.luactx"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local pools = require "nginx.pools"

local claims = {}

local MOST = 200000
local SMALLEST = 16 -- smaller structs are single pointers and numbers, equal for many types
local DEEPEST = 4
local MOST_ELEMENTS = 100000

-- ---- where pools are ----

-- Blocks of all pools in order: { lo, hi (exclusive, the allocated part), pool }.
local function blocks_of(all)
	local blocks = {}
	for _, one in ipairs(all) do
		for i = 1, one.blocks do blocks[#blocks + 1] = { lo = one.list[1][i], hi = one.list["d.last"][i], pool = one, first = i == 1 } end
	end
	table.sort(blocks, function(a, b) return a.lo < b.lo end)
	return blocks
end

-- The block that contains an object completely; nil if there is none.
local function block_at(blocks, addr, size)
	local lo, hi = 1, #blocks
	while lo <= hi do
		local middle = (lo + hi) // 2
		local block = blocks[middle]
		if addr < block.lo then
			hi = middle - 1
		elseif addr >= block.hi then
			lo = middle + 1
		else
			return size <= block.hi - addr and block or nil
		end
	end
end

-- ---- targets of types ----

-- The struct behind a pointer member; nil for pointers without a usable type.
local function led_to(type)
	if type.kind ~= "pointer" or not type.target then return nil end
	local target = type.target:strip()
	if (target.kind == "struct" or target.kind == "class") and target.size and target.size >= SMALLEST then return type.target, target end
end

local function collect(found, type, base, depth)
	for _, member in ipairs(type:members()) do
		local own = member.type:strip()
		if member.offset and not member.bit_size then
			local target, plain = led_to(own)
			if target then
				found[#found + 1] = { offset = base + member.offset, type = target, plain = plain }
			elseif own.kind == "struct" and depth < DEEPEST then
				collect(found, own, base + member.offset, depth + 1)
			end
		end
	end
end

-- Pointers in objects of a type, including those of nested structs.
local function pointers_of(state, plain)
	local key = plain.name .. " " .. plain.size
	local found = state.types[key]
	if not found then
		found = {}
		collect(found, plain, 0, 0)
		state.types[key] = found
	end
	return found
end

-- ---- walking ----

local function say(state, addr, size, type, pool)
	state.heap:claim { addr = addr, size = size, type = type, what = state.names[pool] }
end

-- Adds an object: it is claimed if it is in a pool, and its pointers are followed later.
local function meet(state, addr, type, plain)
	if addr == 0 or addr & 7 ~= 0 or state.seen[addr] or state.count >= MOST then return end
	local block = block_at(state.blocks, addr, plain.size)
	if not block or addr == block.lo then return end
	state.seen[addr], state.count = true, state.count + 1
	say(state, addr, plain.size, type, block.pool)
	state.todo[#state.todo + 1] = { addr = addr, plain = plain }
end

local function look(state, addr, plain)
	local t = state.t
	for _, pointer in ipairs(pointers_of(state, plain)) do
		local done, at = pcall(t.ptr, t, addr + pointer.offset)
		if done then meet(state, at, pointer.type, pointer.plain) end
	end
end

local function work(state)
	while #state.todo > 0 do
		local one = table.remove(state.todo)
		look(state, one.addr, one.plain)
	end
end

-- Adds a known object, in a pool or not.
local function start(state, addr, name)
	if not addr or addr == 0 or not layout.has(state.t, name) then return end
	local type = state.t:type(name)
	local plain = type:strip()
	meet(state, addr, type, plain)
	look(state, addr, plain)
end

-- The parts of a list as arrays of their element type.
local function parts(state, head, name)
	if not layout.has(state.t, name) then return end
	local part = xcore.ref(head, "part")
	for _ = 1, MOST_ELEMENTS do
		if part == nil then return end
		local at, size = maybe.addr(part, "elts"), part.nelts * xcore.sizeof(name)
		local block = at ~= 0 and part.nelts > 0 and part.nelts <= MOST_ELEMENTS and block_at(state.blocks, at, size)
		if block and not state.seen[at] then
			state.seen[at] = true
			state.heap:claim { addr = at, size = size, type = name, array = true, what = state.names[block.pool] }
		end
		part = part.next
	end
end

local function of_request(state, addr)
	local t = state.t
	local r = t:value("ngx_http_request_t", addr)
	damage.try(parts, state, r.headers_in.headers, "ngx_table_elt_t")
	damage.try(parts, state, r.headers_out.headers, "ngx_table_elt_t")
	start(state, addr, "ngx_http_request_t")
	local lua = damage.try(luactx.of, t, r)
	if lua then start(state, lua.addr, "ngx_http_lua_ctx_t") end
end

local function of_pools(state, all)
	for _, block in ipairs(state.blocks) do
		local name = block.first and "ngx_pool_t" or "ngx_pool_data_t"
		say(state, block.lo, xcore.sizeof(name), name, block.pool)
	end
	for _, one in ipairs(all) do
		if one.kind == "request" and one.owner then damage.try(of_request, state, one.owner) end
		start(state, one.addr, "ngx_pool_t")
	end
end

-- "pool 0x… of request 0x…", for each pool.
local function names_of(all)
	local names = {}
	for _, one in ipairs(all) do
		names[one] = ("pool %s of %s"):format(xcore.hex(one.addr), one.owner and one.kind .. " " .. xcore.hex(one.owner) or "the " .. one.kind)
	end
	return names
end

function claims.make(t, heap)
	if not layout.known(t) then return end
	for _, field in ipairs { "last", "end" } do heap:rule { type = "ngx_pool_data_t", field = field, to = false } end
	local all = pools.all(t, { sizes = false, unowned = false })
	local state = { t = t, heap = heap, blocks = blocks_of(all), names = names_of(all), types = {}, seen = {}, todo = {}, count = 0 }
	of_pools(state, all)
	start(state, xcore.addr(cycle.of(t)), "ngx_cycle_t")
	for _, one in ipairs((conn.all(t))) do start(state, one.addr, "ngx_connection_t") end
	work(state)
end

return claims
