-- survey.lua: the counts of keyspace.lua as tables of a report.
local xcore = require "xcore"
local fault = require "redis.fault"
local keyspace = require "redis.keyspace"
local look = require "redis.look"
local names = require "redis.names"
local object = require "redis.object"
local sds = require "redis.sds"

local survey = {}

local function scaled(number, share)
	return share == 1 and number or math.floor(number / share + 0.5)
end

-- Reports keys that were not seen, seen twice or seen only partly.
local function doubts(db, section)
	local walk = db.walk
	if db.share < 1 then
		section:note(("database %d: %d of %d keys were examined; the numbers are estimates"):format(db.id, walk.seen,
			db.keys),
			"redis.types counts all of them")
	elseif walk.seen ~= db.keys and not xcore.target.live then
		section:problem(("database %d counts %d keys, but its chains contain %d"):format(db.id, db.keys, walk.seen))
	end
	if walk.bad > 0 then
		section:problem(("database %d: %d entries or values cannot be read"):format(db.id, walk.bad), walk.why)
	end
	if walk.torn then
		section:warning(("database %d: its table was resized during the read; some keys may be missing or counted twice"):format(
			db.id))
	end
end

-- The table of databases: keys, expiring keys, and memory if it was counted.
function survey.databases(t, section, databases)
	local rows = section:table("databases", {
		{ "database", "integer" }, { "keys", "count" }, { "expires", "count" }, { "avg_ttl_ms", "count", label = "MEAN TTL, MS" },
		{ "memory", "bytes" }, { "table_slots", "count", verbose = true } })
	for _, db in ipairs(databases) do
		local bytes
		for _, group in ipairs(db.groups or {}) do bytes = (bytes or 0) + group.bytes end
		if db.why then
			rows:row(db.id)
			section:problem(("database %d cannot be read"):format(db.id), db.why)
		else
			rows:row(db.id, db.keys, db.expiring, db.avg_ttl, bytes and scaled(bytes, db.share), db.slots)
		end
	end
end

-- The table of types and encodings of each database.
function survey.types(section, databases)
	local rows = section:table("types", {
		{ "database", "integer" }, { "type", "text" }, { "encoding", "text" }, { "keys", "count" }, { "memory", "bytes" },
		{ "mean", "bytes" }, { "largest", "bytes" } })
	for _, db in ipairs(databases) do
		for _, group in ipairs(db.groups) do
			local type, encoding = keyspace.kind(group.type, group.encoding)
			local known = group.count - group.unknown
			rows:row(db.id, type, encoding, scaled(group.count, db.share), known > 0 and scaled(group.bytes, db.share) or nil,
				known > 0 and group.bytes // known or nil, known > 0 and group.largest or nil)
		end
		doubts(db, section)
	end
end

-- Collects the largest keys of each type: collect.begin and collect.each are for keyspace.survey; collect.items()
-- returns {weight, item} of all, the largest first.
function survey.largest(limit)
	local kept, collect, current = {}, {}, nil
	function collect.begin(db)
		current = { db = db.id, tops = {}, least = {} }
		kept[db.id] = current
	end
	function collect.each(bytes, type, encoding, key, value, ptr)
		local least = current.least[type]
		if least and bytes <= least then return end
		local top = current.tops[type]
		if not top then
			top = xcore.top(limit)
			current.tops[type] = top
		end
		top:add(bytes, { db = current.db, type = type, encoding = encoding, key = key, value = value, ptr = ptr })
		current.least[type] = top:least()
	end
	-- By type, then by size.
	function collect.items()
		local all = {}
		for type = 0, names.STREAM do
			local top = xcore.top(limit)
			for _, db in pairs(kept) do
				for _, one in ipairs(db.tops[type] and db.tops[type]:items() or {}) do top:add(one.weight, one.item) end
			end
			for _, one in ipairs(top:items()) do all[#all + 1] = one end
		end
		return all
	end
	return collect
end

-- The table of the largest keys.
function survey.big(t, section, items)
	local rows = section:table("largest", {
		{ "type", "text" }, { "memory", "bytes" }, { "database", "integer" }, { "key", "text", secret = true },
		{ "encoding", "text" }, { "elements", "count" } })
	for _, one in ipairs(items) do
		local item = one.item
		local type, encoding = keyspace.kind(item.type, item.encoding)
		local key = fault.try(function() return object.quoted(sds.text(t, item.key, 256)) end)
		rows:row(
			type,
			one.weight,
			item.db,
			key,
			encoding,
			(fault.try(look.count, t, item.type, item.encoding, item.ptr))
		)
	end
end

return survey
