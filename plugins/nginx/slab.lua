-- slab.lua: the allocator of nginx's shared memory (src/core/ngx_slab.c, 1.22; the same since 1.11.7).
--
--	ngx_slab_pool_t | … | slots, one for each class | stats, one for each class | ngx_slab_page_t, one for each page | start: pages … end |
--
--	page.prev & 3   0 whole pages   slab = top bit | n on the first of n, all ones on the others; a run that is free has slab = n
--	                1 big           low 4 bits of slab: the class's shift; upper half: bitmap of what is used
--	                2 exact         slab is the bitmap: as many items as a word has bits
--	                3 small         slab: the shift; the bitmap stands at the page's beginning, and has bits for itself
--
-- Classes are powers of two from min_size to half a page.
local xcore = require "xcore"
local cycle = require "nginx.cycle"

local slab = {}

local WHOLE, BIG, EXACT, SMALL = 0, 1, 2, 3
local SHIFT_MASK = 15
local PAGE = 4096 -- if ngx_pagesize is unknown
local MOST_PAGES = 1 << 24
local TRIES = 10

local function ones(word)
	local count = 0
	while word ~= 0 do
		word, count = word & word - 1, count + 1
	end
	return count
end

-- The number of set bits at an address.
local function ones_in_memory(t, at, bytes)
	local count = 0
	for offset = 0, bytes - 1, 8 do count = count + ones(t:u64(at + offset)) end
	return count
end

-- Reads one page of small items; its bitmap occupies some of them.
local function small_page(t, state, at, shift)
	local items = state.page_size >> shift
	local map = math.max(8, items >> 3)
	local own = math.max(1, items >> 3 + shift)
	return items - own, ones_in_memory(t, at, map) - own
end

local function class_of(state, shift)
	local class = state.classes[shift]
	if not class then
		class = { size = 1 << shift, pages = 0, items = 0, used = 0 }
		state.classes[shift] = class
	end
	return class
end

local function bad(state, index)
	state.bad = state.bad + 1
	state.bad_page = state.bad_page or index
	return 1
end

-- The shift of a page's class; nil for an impossible one.
local function shift_of(state, kind, word)
	local shift = kind == EXACT and state.exact or word & SHIFT_MASK
	if shift >= state.min_shift and 1 << shift < state.page_size then return shift end
end

-- Reads a page that is divided into items.
local function count_items(t, state, index, kind, word)
	local shift = shift_of(state, kind, word)
	if not shift then return bad(state, index) end
	local class, items, used = class_of(state, shift), state.page_size >> shift, nil
	if kind == SMALL then
		items, used = small_page(t, state, state.start + index * state.page_size, shift)
	else
		used = ones(kind == EXACT and word or word >> state.word // 2)
	end
	class.pages, class.items, class.used = class.pages + 1, class.items + items, class.used + used
	return 1
end

-- Reads a run of whole pages, used or free; returns its number of pages.
local function count_run(state, index, word)
	local busy = word >> state.word - 1 & 1 == 1
	local count = busy and word & (1 << state.word - 1) - 1 or word
	if count < 1 or count > state.count - index then return bad(state, index) end
	if busy then
		state.whole, state.runs = state.whole + count, state.runs + 1
	else
		state.free, state.largest = state.free + count, math.max(state.largest, count)
		state.free_runs = state.free_runs + 1
	end
	return count
end

local function walk(t, state, columns)
	local index = 0
	while index < state.count do
		local word, kind = columns.slab[index + 1], columns.prev[index + 1] & 3
		index = index + (kind == WHOLE and count_run(state, index, word) or count_items(t, state, index, kind, word))
	end
end

local function sorted(classes)
	local list = {}
	for _, class in pairs(classes) do list[#list + 1] = class end
	table.sort(list, function(a, b) return a.size < b.size end)
	return list
end

-- The program's own counters of each class (since 1.11.7); {} if it has none.
local function statistics(pool, state)
	if not xcore.has(pool, "stats") or pool.stats == nil then return end
	for shift = state.min_shift, state.min_shift + 63 do
		if 1 << shift >= state.page_size then break end
		local own = pool.stats[shift - state.min_shift]
		if own.total ~= 0 or own.reqs ~= 0 then
			local class = class_of(state, shift)
			class.own_items, class.own_used, class.requests, class.failures = own.total, own.used, own.reqs, own.fails
		end
	end
end

function slab.page_size(t)
	local size = cycle.var(t, "ngx_pagesize", "ngx_uint_t")
	return size and size > 0 and size & size - 1 == 0 and size <= 1 << 20 and size or PAGE
end

local function prepare(t, pool)
	local page_size = slab.page_size(t)
	local word = xcore.sizeof "ngx_uint_t" * 8
	local span = (xcore.addr(pool["end"]) - xcore.addr(pool.start)) // page_size
	local exact = 0
	while word << exact < page_size do exact = exact + 1 end
	return {
		page_size = page_size, word = word, exact = exact, min_shift = pool.min_shift, start = xcore.addr(pool.start),
		count = pool.last and math.min(span, pool.last - pool.pages) or span, classes = {}, whole = 0, runs = 0, free = 0, free_runs = 0, largest = 0, bad = 0,
	}
end

-- Do the counts agree with the pool's own counters?
local function agrees(state)
	if state.bad > 0 or state.claimed_free and state.claimed_free ~= state.free then return false end
	for _, class in pairs(state.classes) do
		if class.own_used and (class.own_used ~= class.used or class.own_items ~= class.items) then return false end
	end
	return true
end

local function look(t, at)
	local pool = t:value("ngx_slab_pool_t", at)
	if pool.addr == nil or xcore.addr(pool.addr) ~= at then error(xcore.error("fault", "no slab pool at " .. xcore.hex(at))) end
	if pool.start == nil or pool["end"] == nil or pool.pages == nil then error(xcore.error("fault", "a slab pool without pages")) end
	local state = prepare(t, pool)
	if state.count < 0 or state.count > MOST_PAGES then
		error(xcore.error("fault", "a slab pool of " .. xcore.u64(state.count) .. " pages"))
	end
	walk(t, state, (xcore.columns(pool.pages, state.count, { "slab", "prev" })))
	statistics(pool, state)
	state.claimed_free = xcore.has(pool, "pfree") and pool.pfree or nil
	state.overhead = state.start - at
	state.agrees = agrees(state)
	state.classes = sorted(state.classes)
	return state
end

-- The use of a zone's memory: { page_size, count, free, largest, free_runs (pages, pages, runs), whole, runs, classes
-- = a list of { size, pages, items, used, own_items, own_used, requests, failures }, claimed_free (pages, from the
-- pool's own counter), bad (inconsistent pages), overhead (bytes before the first page), agrees }. In a running
-- process, it retries until all agrees. Raises a fault if there is no valid pool at `at`.
function slab.look(t, at)
	local last
	if not t.live then return look(t, at) end
	local done, state = pcall(xcore.retry, function()
		last = look(t, at)
		if not last.agrees then error(xcore.error("torn", "the slab pool changes")) end
		return last
	end, { tries = TRIES })
	return done and state or last or look(t, at)
end

-- Bytes of used items, and bytes of pages that hold items or are whole.
function slab.used(state)
	local used, pages = state.whole * state.page_size, state.whole
	for _, class in ipairs(state.classes) do
		used, pages = used + class.used * class.size, pages + class.pages
	end
	return used, pages * state.page_size
end

-- The bytes that an allocation of a given size takes.
function slab.rounded(t, bytes)
	local page = slab.page_size(t)
	if bytes > page // 2 then return (bytes + page - 1) // page * page end
	local size = 8
	while size < bytes do size = size * 2 end
	return size
end

return slab
