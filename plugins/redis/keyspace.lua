-- keyspace.lua: databases and their keys: walks over all keys, or over a fair sample.
--
-- A database has a dict of keys (redisDb.dict), since 7.4 one per slot (redisDb.keys, a kvstore), and another for the
-- keys that expire, with the time as value.
local xcore = require "xcore"
local alloc = require "redis.alloc"
local dict = require "redis.dict"
local fault = require "redis.fault"
local names = require "redis.names"
local object = require "redis.object"
local size = require "redis.size"

local keyspace = {}

local MOST_DATABASES = 100000

local function dicts_of(db, plain)
	local store = plain == "dict" and not xcore.has(db, "dict") and "keys" or plain
	local top = db[store]
	if not top then return {} end
	if not xcore.has(top, "num_dicts") then return { top } end
	local list = {}
	for i = 0, top.num_dicts - 1 do
		if top.dicts[i] then list[#list + 1] = top.dicts[i] end
	end
	return list
end

local function total(dicts, count)
	local sum = 0
	for _, d in ipairs(dicts) do sum = sum + count(d) end
	return sum
end

local function database(db, id)
	local found = { id = id, dicts = dicts_of(db, "dict"), expires = dicts_of(db, "expires"), avg_ttl = db.avg_ttl }
	found.keys, found.expiring = total(found.dicts, dict.used), total(found.expires, dict.used)
	found.slots = total(found.dicts, dict.slots)
	return found
end

-- The databases that have keys: {id, dicts, expires, keys, expiring, slots}; an unreadable one has no dicts, but
-- .why. `only`: this one, even if it is empty.
function keyspace.databases(t, only)
	local server, list = t:var "server", {}
	if server.dbnum < 0 or server.dbnum > MOST_DATABASES then fault.raise("server.dbnum is %d", server.dbnum) end
	for i = 0, server.dbnum - 1 do
		local found, why = fault.try(database, server.db[i], i)
		if not found then found = { id = i, dicts = {}, expires = {}, keys = 0, expiring = 0, slots = 0, why = why } end
		if only == i or not only and (found.keys > 0 or why) then list[#list + 1] = found end
	end
	if only and not list[1] then fault.usage("there is no database %d: the server has %d", only, server.dbnum) end
	return list
end

local function joined(dicts, word)
	local words = {}
	for i, d in ipairs(dicts) do words[i] = word(d) end
	return table.concat(words, " ")
end

-- Calls visit(key, value), bits of both, for the entries of dicts; `begin` runs before each attempt; `every` as in
-- dict.walk. In a running server the arrays may be replaced during the walk: it is repeated, and after some attempts
-- the result of the last one is kept. Returns {seen, bad, why, torn}; torn: entries moved during the read.
function keyspace.walk(t, dicts, begin, visit, every)
	local walk, before
	local function all()
		walk, before = { seen = 0, bad = 0 }, joined(dicts, dict.progress)
		begin()
		for _, d in ipairs(dicts) do
			local part = dict.walk(t, d, visit, every)
			walk.seen, walk.bad, walk.why = walk.seen + part.seen, walk.bad + part.bad, walk.why or part.why
			if part.stopped then return end
		end
		-- Unreadable data of a running server is often in newly mapped memory: another attempt reads the
		-- mappings again.
		if t.live and walk.bad * 100 > walk.seen then fault.torn() end
	end
	local done, err =
		pcall(xcore.retry, all, { tries = 3, words = { function() return joined(dicts, dict.arrays) end } })
	if not done then
		if type(err) ~= "table" or err.kind ~= "torn" then error(err, 0) end
		walk.torn = true -- the result of the last attempt is kept
	end
	walk.torn = walk.torn or joined(dicts, dict.progress) ~= before
	return walk
end

-- Buckets are read in blocks: one in this many, so that about `limit` of `keys` keys are seen.
local function stride(keys, limit)
	return limit and keys > limit and (keys + limit - 1) // limit or 1
end

-- The keys of one database: groups by type and encoding, and the large ones.
local function count_keys(s, db)
	local groups
	local entry_size, key_size, read = s.entry_size, s.alloc.sds, s.read
	local samples, each = s.samples, s.each
	local function visit(key, value)
		local type, encoding, ptr = read(value)
		local kind = type << 8 | encoding
		local group = groups[kind]
		if not group then
			group = { type = type, encoding = encoding, count = 0, bytes = 0, largest = 0, unknown = 0,
				size = s.sizer(type, encoding) }
			groups[kind] = group
		end
		local bytes = group.size(value, ptr, samples)
		group.count = group.count + 1
		if not bytes then
			group.unknown = group.unknown + 1
			return
		end
		bytes = bytes + entry_size + key_size(key)
		group.bytes = group.bytes + bytes
		if bytes > group.largest then group.largest = bytes end
		if each then each(bytes, type, encoding, key, value, ptr) end
	end
	local function begin()
		groups = {}
		if s.begin then s.begin(db) end
	end
	local walk = keyspace.walk(s.t, db.dicts, begin, visit, stride(db.keys, s.limit))
	return groups, walk
end

local function by_kind(groups)
	local list = {}
	for _, group in pairs(groups) do list[#list + 1] = group end
	table.sort(list, function(a, b)
		if a.type ~= b.type then return a.type < b.type end
		return a.encoding < b.encoding
	end)
	return list
end

-- Bytes of an entry of a database; in a cluster before 7.4 including its place in the list of a slot.
function keyspace.entry_size(t)
	local size_of_one = xcore.sizeof("dictEntry")
	if t:var "server".cluster_enabled == 0 or not t:has_type("clusterDictEntryMetadata") then return size_of_one end
	return size_of_one + xcore.sizeof("clusterDictEntryMetadata")
end

-- Counts keys and memory by type and encoding. options: db, only that one; limit, examine about that many keys of
-- each database; samples, elements of a value (size.lua); begin(db) is called before each attempt at a database, and
-- each(bytes, type, encoding, key, value, ptr) for its keys. Returns the databases, each with .groups (sorted),
-- .walk, and .share, the fraction of its keys that was seen; and the allocator.
function keyspace.survey(t, options)
	local found = alloc.of(t)
	local s = {
		t = t, alloc = found, read = object.reader(t), sizer = size.of(t, found),
		entry_size = keyspace.entry_size(t), samples = options.samples or size.DEFAULT_SAMPLES,
		limit = options.limit, begin = options.begin, each = options.each,
	}
	local databases = keyspace.databases(t, options.db)
	for _, db in ipairs(databases) do
		local groups
		groups, db.walk = count_keys(s, db)
		db.groups = by_kind(groups)
		db.share = db.walk.seen > 0 and math.min(1, db.walk.seen / db.keys) or 1
		if stride(db.keys, options.limit) == 1 then db.share = 1 end
	end
	return databases, found
end

-- The expiry time of each key of a database, milliseconds since 1970: visit(key, when).
function keyspace.expires(t, db, begin, visit)
	return keyspace.walk(t, db.expires, begin, visit)
end

local function find(t, dicts, name)
	for _, d in ipairs(dicts) do
		local key, value = dict.find(t, d, name)
		if key then return key, value end
	end
end

-- The key with this name: addresses of its string and of its object; nil if there is none.
function keyspace.find(t, db, name)
	return find(t, db.dicts, name)
end

-- The expiry time of the key with this name, ms since 1970; nil: never.
function keyspace.expiry(t, db, name)
	local _, when = find(t, db.expires, name)
	return when
end

function keyspace.kind(type, encoding)
	return names.TYPES[type] or ("type " .. type), names.ENCODINGS[encoding] or ("encoding " .. encoding)
end

return keyspace
