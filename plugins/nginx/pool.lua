-- pool.lua: one pool: its blocks, their used part, its large allocations and cleanups (src/core/ngx_palloc.h, 1.22).
--
--	first block   | d { last, end, next, failed } | max | current | chain | large | cleanup | log | what was allocated … last … end |
--	later blocks  | d { last, end, next, failed } | what was allocated … last … end |
--	large         | next | alloc |        alloc NULL: was given back; how long it is, only malloc knows
--	cleanup       | handler | data | next |
--
-- New allocations start at `current`: free space in earlier blocks is wasted.
local xcore = require "xcore"
local maybe = require "lib.maybe"

local pool = {}

local MOST = 10000000

-- malloc's sizes: a function of an address; nil if the heap does not know the block.
function pool.sizer(t)
	local heap = t:heap()
	return function(addr)
		local block, offset = heap:at(addr)
		if block and offset == 0 and not block.kept then return block.size, block end
	end
end

local function blocks_of(one, first)
	local columns, count, why = xcore.follow(first, "d.next", { "d.last", "d.end" }, { partial = true, addresses = true, max = MOST })
	local small, large = xcore.sizeof "ngx_pool_data_t", xcore.sizeof "ngx_pool_t"
	local current, reached = maybe.addr(first, "current"), false
	one.blocks, one.list, one.why = count, columns, why
	for i = 1, count do
		local at, last, finish = columns[1][i], columns["d.last"][i], columns["d.end"][i]
		local begin = at + (i == 1 and large or small)
		if last < begin or last > finish then
			one.why = one.why or ("block %d at %s is out of order"):format(i, xcore.hex(at))
			break
		end
		reached = reached or at == current
		one.bytes, one.used = one.bytes + finish - at, one.used + last - begin
		one.free = one.free + (reached and finish - last or 0)
		one.waste = one.waste + (reached and 0 or finish - last)
	end
	if not reached then one.why = one.why or "`current` is not one of its blocks" end
end

local function large_of(one, first, size)
	if not first.large then return end
	local columns, count, why = xcore.follow(first.large, "next", { "alloc" }, { partial = true, max = MOST })
	one.allocations, one.why = {}, one.why or why
	for i = 1, count do
		local at = columns.alloc[i]
		if at ~= 0 then
			one.large = one.large + 1
			one.allocations[one.large] = at
			local bytes = size and size(at)
			if bytes then one.large_bytes = one.large_bytes + bytes else one.unsized = one.unsized + 1 end
		end
	end
end

local function cleanups_of(one, first)
	if not first.cleanup then return end
	local columns, count, why = xcore.follow(first.cleanup, "next", { "handler", "data" }, { partial = true, max = MOST })
	one.why = one.why or why
	for i = 1, count do
		if columns.handler[i] ~= 0 then
			one.cleanup_count = one.cleanup_count + 1
			one.cleanups[one.cleanup_count] = { handler = columns.handler[i], data = columns.data[i] }
		end
	end
end

-- The pool at an address: {addr, blocks, bytes (of blocks, headers included), used, free, waste, list (columns of its
-- blocks), large (number), large_bytes, unsized (large allocations of unknown size), allocations, cleanups = list of
-- {handler, data}, cleanup_count, why}. With `size` from pool.sizer, large allocations are sized. Raises a fault if
-- its first block cannot be read.
function pool.read(t, addr, size)
	local one = { addr = addr, blocks = 0, bytes = 0, used = 0, free = 0, waste = 0, large = 0, large_bytes = 0, unsized = 0,
		cleanups = {}, cleanup_count = 0, allocations = {} }
	local first = xcore.cast(addr, "ngx_pool_t *")
	blocks_of(one, first)
	if one.blocks == 0 then error(xcore.error("fault", "no pool at " .. xcore.hex(addr) .. ": " .. (one.why or "it has no block"))) end
	large_of(one, first, size)
	cleanups_of(one, first)
	one.total = one.bytes + one.large_bytes
	return one
end

-- "ngx_ssl_cleanup_ctx × 3, ngx_pool_cleanup_file", the most frequent first.
function pool.cleanup_text(one)
	local counts, names = {}, {}
	for _, cleanup in ipairs(one.cleanups) do
		local name = xcore.symbol(cleanup.handler) or xcore.hex(cleanup.handler)
		if not counts[name] then names[#names + 1] = name end
		counts[name] = (counts[name] or 0) + 1
	end
	table.sort(names, function(a, b)
		if counts[a] ~= counts[b] then return counts[a] > counts[b] end
		return a < b
	end)
	for i, name in ipairs(names) do names[i] = counts[name] > 1 and ("%s × %d"):format(name, counts[name]) or name end
	return #names > 0 and table.concat(names, ", ") or nil
end

return pool
