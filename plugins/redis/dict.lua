-- dict.lua: Redis hash tables: two arrays of chains; during a resize both are in use.
--
--     dict 7.0: ht_table[2], ht_used[2], ht_size_exp[2], rehashidx      before: ht[2] of {table, size, sizemask, used}
--     entry:    key | v | next; since 7.2 a pointer to one may carry a tag in its low bits: an odd one is the key itself,
--               2 means an entry without a value (dict.c)
--
-- The debug information selects the layout. A walk reads chains a block of buckets at a time. Unreadable entries are
-- counted and skipped, so a chain that is damaged or that changes during the read costs only itself. (During a
-- resize, two entries often swap places; seen half before and half after the swap, they form a cycle.)
local xcore = require "xcore"
local fault = require "redis.fault"
local record = require "redis.record"
local sds = require "redis.sds"
local siphash = require "redis.siphash"

local dict = {}

local BLOCK = 128      -- buckets read at once
local LONGEST = 100    -- entries of one chain: the average is at most five, so more is a cycle
local SLACK = 10000    -- entries beyond twice the table's count: more is damage
local UNREAD = 10000   -- consecutive unreadable blocks: more means a wrong table size

-- The arrays of a dict that exist: {at, slots, used}.
function dict.tables(d)
	local found = {}
	for i = 0, 1 do
		local at, slots, used
		if xcore.has(d, "ht_size_exp") then
			local exponent = d.ht_size_exp[i]
			at, used = d.ht_table[i], d.ht_used[i]
			slots = exponent >= 0 and exponent < 48 and 1 << exponent or 0
		else
			at, slots, used = d.ht[i].table, d.ht[i].size, d.ht[i].used
		end
		if at and slots > 0 then found[#found + 1] = { at = xcore.addr(at), slots = slots, used = used } end
	end
	return found
end

local function sum(d, field)
	local total = 0
	if d then
		for _, array in ipairs(dict.tables(d)) do total = total + array[field] end
	end
	return total
end

function dict.used(d) return sum(d, "used") end
function dict.slots(d) return sum(d, "slots") end

-- A word that changes when the arrays are replaced; walks are torn then.
function dict.arrays(d)
	local text = ""
	for _, array in ipairs(dict.tables(d)) do text = text .. array.at .. ":" .. array.slots .. " " end
	return text
end

-- The progress of a resize: entries move meanwhile and may be seen twice or missed.
function dict.progress(d) return d.rehashidx end

local function make_reader(t)
	local full = record.of(t, "dictEntry", { "key", "v.val", "next" })
	if not t:has_type("dictEntryNoValue") then return full end
	local bare = record.of(t, "dictEntryNoValue", { "key", "next" })
	return function(at)
		if at & 7 == 0 then return full(at) end
		if at & 1 == 1 then return at, 0, 0 end
		if at & 7 == 2 then
			local key, next = bare(at - 2)
			return key, 0, next
		end
		return at & ~7, 0, 0
	end
end

local readers = {} -- by target

-- A function from a pointer to an entry to its key, its value (as bits) and the next pointer.
function dict.reader(t)
	local found = readers[t]
	if not found then
		found = make_reader(t)
		readers[t] = found
	end
	return found
end

local function lose(walk, why)
	walk.bad, walk.why = walk.bad + 1, walk.why or why
end

-- Visits the chains that begin at `heads`. Counts are added to `walk`.
local function visit_chains(read, heads, visit, walk)
	local i, at, seen, length, mark = 0, 0, 0, 0, 0
	local function run()
		while true do
			while at == 0 do
				i, length, mark = i + 1, 0, 0
				at = heads[i]
				if not at then return end
			end
			local here = at
			at = 0 -- an unreadable entry ends its chain
			local key, value, next = read(here)
			seen, length, at = seen + 1, length + 1, next
			if next ~= 0 and (next == mark or next == here or length == LONGEST) then
				lose(walk, "a chain of entries is cyclic")
				at = 0
			end
			if length & length - 1 == 0 then mark = here end -- as in Brent's cycle detection
			if visit(key, value) == false then
				walk.stopped = true
				return
			end
		end
	end
	repeat
		local done, err = pcall(run)
		if not done then
			if not fault.of_memory(err) then error(err, 0) end
			lose(walk, fault.message(err))
		end
	until done
	walk.seen = walk.seen + seen
end

local function heads_at(t, array, first, walk)
	local count = math.min(BLOCK, array.slots - first)
	local heads, why = fault.try(record.words, t, array.at + first * t.pointer_size, count)
	if heads then return heads end
	lose(walk, why)
	return {}
end

-- Calls visit(key, value) with the bits of each entry until it returns false. `every` selects one of that many blocks
-- of buckets; keys have random places, so this is a fair sample. Returns {seen, bad, why, stopped}: entries seen, the
-- number of unreadable places, and the reason of the first.
function dict.walk(t, d, visit, every)
	local walk = { seen = 0, bad = 0 }
	local read, most = dict.reader(t), 2 * dict.used(d) + SLACK
	for _, array in ipairs(dict.tables(d)) do
		local missing = 0
		for first = 0, array.slots - 1, BLOCK * (every or 1) do
			local heads = heads_at(t, array, first, walk)
			missing = #heads == 0 and missing + 1 or 0
			if missing > UNREAD then
				walk.why = walk.why .. "; the rest of the table was skipped"
				break
			end
			visit_chains(read, heads, visit, walk)
			if walk.stopped then return walk end
			if math.ult(most, walk.seen) then
				lose(walk, "the chains contain more entries than the table counts")
				return walk
			end
		end
	end
	return walk
end

local function seed(t)
	local name = "dict.c::dict_hash_function_seed"
	return t:has_var(name) and t:read(t:var(name), 16) or nil
end

-- The chains that may contain `text`: in each array the bucket of its hash, or all buckets if the seed is unknown.
local function chains_of(t, d, text)
	local found, bytes = {}, seed(t)
	if not bytes then return nil end
	local hash = siphash(text, bytes)
	for _, array in ipairs(dict.tables(d)) do
		found[#found + 1] = t:ptr(array.at + (hash & array.slots - 1) * t.pointer_size)
	end
	return found
end

-- Is this the string at an address? Its NUL is also compared, so one read excludes nearly all others.
local function same(t, at, wanted)
	local done, bytes = pcall(t.read, t, at, #wanted + 1)
	if done and bytes ~= wanted .. "\0" then return false end
	local text, len = sds.text(t, at, #wanted)
	return len == #wanted and text == wanted
end

-- The entry of a dict of strings with the key `text`: key and value, bits of both; nil if there is none.
function dict.find(t, d, text)
	local key, value
	local function visit(at, bits)
		if not same(t, at, text) then return end
		key, value = at, bits
		return false
	end
	local heads = chains_of(t, d, text)
	if heads then
		visit_chains(dict.reader(t), heads, visit, { seen = 0, bad = 0 })
	else
		dict.walk(t, d, visit)
	end
	return key, value
end

return dict
