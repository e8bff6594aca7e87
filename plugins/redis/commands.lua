-- commands.lua: the plugin's commands, its part of `xcore analyze`, and its flame graph.
local xcore = require "xcore"
local alarms = require "redis.alarms"
local args = require "lib.args"
local clients = require "redis.clients"
local fault = require "redis.fault"
local glob = require "redis.glob"
local keyspace = require "redis.keyspace"
local look = require "redis.look"
local maybe = require "lib.maybe"
local object = require "redis.object"
local sds = require "redis.sds"
local server = require "redis.server"
local size = require "redis.size"
local alloc = require "redis.alloc"
local slowlog = require "redis.slowlog"
local survey = require "redis.survey"
local tables = require "redis.tables"
local work = require "redis.work"

local commands = {}

local QUICK_KEYS = 200000 -- number of keys of each database that analyze looks at
local FEW = 10

local function set(...)
	local found = {}
	for _, key in ipairs { ... } do found[key] = true end
	return found
end

local function by_memory(list)
	local sorted = table.move(list, 1, #list, 1, {})
	table.sort(sorted, function(a, b)
		if a.tot_mem ~= b.tot_mem then return a.tot_mem > b.tot_mem end
		return math.ult(a.id, b.id)
	end)
	return table.move(sorted, 1, FEW, 1, {})
end

local function by_duration(list)
	table.sort(list, function(a, b)
		if a.microseconds ~= b.microseconds then return a.microseconds > b.microseconds end
		return a.id > b.id
	end)
	return table.move(list, 1, FEW, 1, {})
end

local function analyze_server(t, report)
	local s = t:var "server"
	local section = report:section("redis", "Redis")
	local keys, databases = 0, keyspace.databases(t)
	for _, db in ipairs(databases) do keys = keys + db.keys end
	section:headline(("redis %s, %s: %d keys in %d databases, %.1f MiB used"):format(server.version(t) or "of unknown version",
		server.role(s), keys, #databases, (server.used_memory(t) or 0) / (1 << 20)))
	server.add(
		t,
		section,
		server.GENERAL,
		set("redis_version", "redis_mode", "role", "uptime_in_seconds", "config_file")
	)
	server.add(
		t,
		section,
		server.MEMORY,
		set("used_memory", "used_memory_peak", "used_memory_rss", "maxmemory", "maxmemory_policy")
	)
	server.add(t, section, server.STATS, set("total_commands_processed", "expired_keys", "evicted_keys", "keyspace_hits",
		"keyspace_misses"))
	alarms.server(t, section)
end

local function analyze_keys(t, report)
	local section = report:section("keys", "Redis: keys")
	local collect = survey.largest(1)
	local databases, found = keyspace.survey(t, { limit = QUICK_KEYS, begin = collect.begin, each = collect.each })
	if not found.exact then
		section:note("block sizes are rounded up from the requested sizes: the allocator's own sizes are unknown")
	end
	survey.databases(t, section, databases)
	survey.types(section, databases)
	for _, one in ipairs(collect.items()) do
		local name = fault.try(function() return object.quoted(sds.text(t, one.item.key, 128)) end)
		alarms.key(section, name or "a key", one.weight)
	end
end

local function analyze_clients(t, report)
	local section = report:section("clients", "Redis: clients")
	local list, lost = clients.all(t)
	tables.client_totals(section, list)
	tables.clients(section, by_memory(list), true)
	if #list > FEW then
		section:note(("the %d of %d clients that use the most memory"):format(FEW, #list), "redis.clients lists all")
	end
	tables.trouble(section, lost, "clients")
end

local function analyze_slowlog(t, report)
	local list, lost = slowlog.all(t)
	if #list == 0 and lost.bad == 0 then return end
	local section = report:section("slowlog", "Redis: slowest commands")
	tables.slowlog(section, by_duration(list))
	tables.trouble(section, lost, "entries")
end

local function analyze_work(t, report)
	tables.work(report:section("command", "Redis: current command"), work.current(t), work.stack(t))
end

-- Runs a part; a failure costs only that part.
function commands.analyze(t, report)
	if not t:has_type "struct redisServer" then
		report:section("redis", "Redis"):note(
			"a redis-server without debug information: install it (redis-tools-dbgsym, debuginfod) to see keys and clients"
		)
		return
	end
	for _, part in ipairs { analyze_server, analyze_work, analyze_keys, analyze_clients, analyze_slowlog } do
		local done, why = fault.try(function()
			part(t, report)
			return true
		end)
		if not done then report:section("trouble", "Redis: not analyzed"):problem(why) end
	end
end

function commands.info(t, report, list)
	args.parse(list, {})
	for _, part in ipairs { { "server", server.GENERAL }, { "clients", server.CLIENTS }, { "memory", server.MEMORY },
		{ "persistence", server.PERSISTENCE }, { "stats", server.STATS } } do
		server.add(t, report:section(part[1], "Redis: " .. part[1]), part[2])
	end
	tables.replication(t, report:section("replication", "Redis: replication"))
	survey.databases(t, report:section("keyspace", "Redis: keyspace"), keyspace.databases(t))
end

function commands.keys(t, report, list)
	local options = args.parse(list, { db = "number", match = "text", limit = "number" })
	local pattern, limit = options.match and glob.pattern(options.match), options.limit or 1000
	local section = report:section("keys", "Redis: keys")
	local rows = section:table("keys", { { "database", "integer" }, { "key", "text", secret = true }, { "type", "text" },
		{ "encoding", "text" }, { "memory", "bytes" }, { "elements", "count" } })
	local found = alloc.of(t)
	local read, sizer, fixed = object.reader(t), size.of(t, found), keyspace.entry_size(t)
	local count, more = 0, false
	for _, db in ipairs(keyspace.databases(t, options.db)) do
		local page
		local function visit(key, value)
			local text, len = sds.text(t, key, 1024)
			if pattern and not text:find(pattern) then return end
			if count + #page == limit then
				more = true
				return false
			end
			local type, encoding, ptr = read(value)
			local bytes = sizer(type, encoding)(value, ptr, size.DEFAULT_SAMPLES)
			local kind, form = keyspace.kind(type, encoding)
			page[#page + 1] = { db.id, object.quoted(text, len), kind, form, bytes and bytes + fixed + found.sds(key) or false,
				look.count(t, type, encoding, ptr) or false }
		end
		local walk = keyspace.walk(t, db.dicts, function() page = {} end, visit)
		for _, row in ipairs(page) do rows:row(row[1], row[2], row[3], row[4], row[5] or nil, row[6] or nil) end
		count = count + #page
		tables.trouble(section, db.why and { bad = 1, why = db.why } or walk, "places among the keys")
	end
	if more then section:note(("only %d are shown"):format(limit), "--limit N shows more") end
end

-- As in MEMORY USAGE: 0 is all.
local function elements_to_see(options)
	return options.samples == 0 and size.ALL or options.samples
end

function commands.types(t, report, list)
	local options = args.parse(list, { db = "number", samples = "number" })
	local section = report:section("types", "Redis: types and encodings")
	local databases = keyspace.survey(t, { db = options.db, samples = elements_to_see(options) })
	survey.databases(t, section, databases)
	survey.types(section, databases)
end

function commands.big(t, report, list)
	local options = args.parse(list, { db = "number", limit = "number", samples = "number" })
	local section = report:section("big", "Redis: largest keys of each type")
	local collect = survey.largest(math.max(1, options.limit or FEW))
	keyspace.survey(
		t,
		{ db = options.db, samples = elements_to_see(options), begin = collect.begin, each = collect.each }
	)
	survey.big(t, section, collect.items())
end

function commands.expires(t, report, list)
	local options = args.parse(list, { db = "number" })
	local section = report:section("expires", "Redis: keys that expire")
	local rows = section:table("databases", { { "database", "integer" }, { "keys", "count" }, { "expires", "count" },
		{ "overdue", "count" }, { "mean", "seconds" }, { "soonest", "seconds" }, { "latest", "seconds" } })
	local all, now = xcore.histogram { scale = "log2", unit = "seconds" }, t:var "server".mstime
	for _, db in ipairs(keyspace.databases(t, options.db)) do
		local left, overdue
		local function begin() left, overdue = {}, 0 end
		local walk = keyspace.expires(t, db, begin, function(_, when)
			if when < now then overdue = overdue + 1 else left[#left + 1] = (when - now) / 1000 end
		end)
		local one = xcore.histogram { unit = "seconds" }
		one:add(left)
		all:add(left)
		local facts = one:summary()
		rows:row(db.id, db.keys, db.expiring, overdue, facts.mean, facts.min, facts.max)
		tables.trouble(section, db.why and { bad = 1, why = db.why } or walk, "entries")
	end
	section:histogram("time_to_live", all, { label = "time to live" })
end

function commands.clients(t, report, list)
	args.parse(list, {})
	local section = report:section("clients", "Redis: clients")
	local found, lost = clients.all(t)
	tables.client_totals(section, found)
	tables.clients(section, found)
	tables.trouble(section, lost, "clients")
end

function commands.blocked(t, report, list)
	args.parse(list, {})
	local section = report:section("blocked", "Redis: blocked clients")
	local found, lost = clients.all(t)
	tables.blocked(t, section, found)
	tables.trouble(section, lost, "clients")
end

function commands.replication(t, report, list)
	args.parse(list, {})
	tables.replication(t, report:section("replication", "Redis: replication"))
end

function commands.slowlog(t, report, list)
	args.parse(list, {})
	local section = report:section("slowlog", "Redis: slow commands")
	local found, lost = slowlog.all(t)
	tables.slowlog(section, found)
	tables.trouble(section, lost, "entries")
end

function commands.command(t, report, list)
	args.parse(list, {})
	analyze_work(t, report)
end

local function show_elements(t, section, type, encoding, ptr)
	local list, why = fault.try(look.elements, t, type, encoding, ptr, 2 * FEW)
	if not list then
		section:unknown("contents", why or "unknown encoding")
		return
	end
	local function text(element)
		return math.type(element) and ("%d"):format(element) or object.quoted(element:sub(1, 256), #element)
	end
	if not look.paired(type) then
		local rows = section:table("contents", { { "element", "text", secret = true } })
		for _, element in ipairs(list) do rows:row(text(element)) end
		return
	end
	local rows = section:table("contents", { { "field", "text", secret = true }, { "value", "text", secret = true } })
	for i = 1, #list - 1, 2 do rows:row(text(list[i]), text(list[i + 1])) end
end

local LRU_BITS, LFU = 24, 2

-- The object's clock: minutes and a logarithmic counter under an LFU policy, else seconds (evict.c).
local function show_use(t, section, clock)
	local s = t:var "server"
	if (maybe.get(s, "maxmemory_policy") or 0) & LFU ~= 0 then
		section:integer("frequency", clock & 255, { label = "frequency (logarithmic)" })
	elseif xcore.has(s, "lruclock") then
		section:seconds("idle", s.lruclock - clock & (1 << LRU_BITS) - 1)
	end
end

local function show_key(t, section, db, name, key, at)
	local type, encoding, ptr = object.reader(t)(at)
	local kind, form = keyspace.kind(type, encoding)
	local found, value = alloc.of(t), t:value("robj", at)
	section:integer("database", db.id)
	section:text("type", kind)
	section:text("encoding", form)
	section:count("elements", (fault.try(look.count, t, type, encoding, ptr)))
	local bytes = fault.try(size.of(t, found)(type, encoding), at, ptr, size.ALL)
	section:bytes("memory", bytes and bytes + keyspace.entry_size(t) + found.sds(key))
	local when = keyspace.expiry(t, db, name)
	section:integer("expires_at_ms", when)
	section:seconds("time_to_live", when and (when - t:var "server".mstime) / 1000)
	show_use(t, section, value.lru)
	section:integer("references", value.refcount)
	section:address("object", at)
	section:address("value", ptr ~= 0 and encoding ~= 1 and ptr or nil)
	show_elements(t, section, type, encoding, ptr)
end

function commands.key(t, report, list)
	local options = args.parse(list, { db = "number" }, 1)
	local name = options[1] or fault.usage "which key? redis.key KEY [--db N]"
	local section, shown = report:section("key", "Redis: " .. object.quoted(name)), 0
	for _, db in ipairs(keyspace.databases(t, options.db)) do
		local key, at = keyspace.find(t, db, name)
		if key then
			show_key(t, section, db, name, key, at)
			shown = shown + 1
			break
		end
	end
	if shown == 0 then section:note "no such key" end
end

local MOST_PREFIXES = 1000
local LONGEST_PREFIX = 63

-- The text before the first colon of the key at an address; nil if there is none. Usually one read: a colon before
-- any NUL belongs to the key. Strings of more than 40 bytes are not interned, so this is twice as fast as a shorter
-- read.
local function prefix_of(t, key)
	local done, bytes = pcall(t.read, t, key, LONGEST_PREFIX + 1)
	local colon, nul = done and bytes:find(":", 1, true), done and bytes:find("\0", 1, true)
	if colon and (not nul or nul > colon) then return bytes:sub(1, colon - 1) end
	return sds.text(t, key, LONGEST_PREFIX):match "^([^:]*):"
end

-- Memory by database, type, encoding and the text before the first colon of the key.
function commands.flame(t, tree)
	local counts, current
	local function begin(db)
		current = { db = db, kinds = {} }
		counts = counts or {}
		counts[db.id] = current
	end
	local function each(bytes, type, encoding, key)
		local kind = type << 8 | encoding
		local prefixes = current.kinds[kind]
		if not prefixes then
			prefixes = { count = 0, bytes = {} }
			current.kinds[kind] = prefixes
		end
		local prefix = prefix_of(t, key)
		local name = prefix and object.quoted(prefix) or "(no prefix)"
		if not prefixes.bytes[name] then
			if prefixes.count == MOST_PREFIXES then
				name = "(other prefixes)"
			else
				prefixes.count = prefixes.count + 1
			end
		end
		prefixes.bytes[name] = (prefixes.bytes[name] or 0) + bytes
	end
	keyspace.survey(t, { begin = begin, each = each })
	for id, one in pairs(counts or {}) do
		for kind, prefixes in pairs(one.kinds) do
			local type, encoding = keyspace.kind(kind >> 8, kind & 255)
			for name, bytes in pairs(prefixes.bytes) do
				tree:add({ ("db %d"):format(id), type, encoding, name }, bytes)
			end
		end
	end
end

return commands
