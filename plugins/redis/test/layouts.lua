-- Keys of server versions without a core: tables as before 7.0 and as in 7.2, laid out from their headers.
local COMMON = [[
	typedef unsigned long long u64;
	typedef struct redisObject { unsigned type:4; unsigned encoding:4; unsigned lru:24; int refcount; void *ptr; } robj;
	typedef struct redisDb { struct dict *dict; struct dict *expires; int id; long long avg_ttl; } redisDb;
	struct redisServer { redisDb *db; int dbnum; int cluster_enabled; long long mstime; };
]]

local BEFORE_7 = COMMON .. [[
	typedef struct dictEntry { void *key; union { void *val; u64 u64; } v; struct dictEntry *next; } dictEntry;
	typedef struct dictht { dictEntry **table; unsigned long size; unsigned long sizemask; unsigned long used; } dictht;
	typedef struct dict { void *type; void *privdata; dictht ht[2]; long rehashidx; unsigned long iterators; } dict;
]]

local SINCE_7_2 = COMMON .. [[
	typedef struct dictEntry { void *key; union { void *val; u64 u64; } v; struct dictEntry *next; } dictEntry;
	typedef struct { void *key; dictEntry *next; } dictEntryNoValue;
	typedef struct dict { void *type; dictEntry **ht_table[2]; unsigned long ht_used[2]; long rehashidx; short pauserehash;
		signed char ht_size_exp[2]; } dict;
]]

-- Strings with a header of 8 bits: | len | alloc | flags 1 | bytes | NUL. The address is that of the string.
local STRINGS = {
	[0x9003] = "greeting", [0x9023] = "numbers", [0x9043] = "hello world", [0x9063] = "members", [0x9083] = "odd one",
	[0x90a3] = "a bare one",
}

local function memory(more)
	local all = {}
	for at, text in pairs(STRINGS) do all[at - 3] = string.char(#text, #text, 1) .. text .. "\0" end
	for at, bytes in pairs(more or {}) do all[at] = bytes end
	return all
end

local ZIPLIST = "\x0f\0\0\0\x0c\0\0\0\2\0\0\xf3\2\xf6\xff"

-- Two keys: one in the new table of a resize, one in the old table.
local before_7 = {
	cdef = BEFORE_7, memory = memory { [0x9100] = ZIPLIST },
	objects = {
		server = { "struct redisServer", { db = "db", dbnum = 1, mstime = 1000000 } },
		db = { "redisDb", { dict = "keys", expires = "expires" } },
		keys = { "dict", { rehashidx = 1, ht = {
			{ table = "old", size = 2, sizemask = 1, used = 1 }, { table = "new", size = 4, sizemask = 3, used = 1 } } } },
		old = { "dictEntry *[2]", { 0, "first" } },
		new = { "dictEntry *[4]", { 0, 0, "second", 0 } },
		first = { "dictEntry", { key = 0x9003, v = { val = "string" } } },
		second = { "dictEntry", { key = 0x9023, v = { val = "list" } } },
		string = { "robj", { type = 0, encoding = 0, refcount = 1, ptr = 0x9043 } },
		list = { "robj", { type = 4, encoding = 5, refcount = 1, ptr = 0x9100 } },
		expires = { "dict", { rehashidx = -1, ht = { { table = "times", size = 1, used = 1 } } } },
		times = { "dictEntry *[1]", { "time" } },
		time = { "dictEntry", { key = 0x9003, v = { u64 = 1060000 } } },
	},
}

local since_7_2 = {
	cdef = SINCE_7_2, memory = memory(),
	objects = {
		server = { "struct redisServer", { db = "db", dbnum = 1 } },
		db = { "redisDb", { dict = "keys" } },
		keys = { "dict", { rehashidx = -1, ht_size_exp = { 0, -1 }, ht_used = { 1, 0 }, ht_table = { "table", 0 } } },
		table = { "dictEntry *[1]", { "entry" } },
		entry = { "dictEntry", { key = 0x9063, v = { val = "set" } } },
		set = { "robj", { type = 2, encoding = 2, refcount = 1, ptr = "members" } },
		members = { "dict", { rehashidx = -1, ht_size_exp = { 1, -1 }, ht_used = { 2, 0 }, ht_table = { "heads", 0 } } },
		heads = { "dictEntry *[2]", { 0x9083, 0x8002 } }, -- an odd key itself, and an entry without a value
		bare = { "dictEntryNoValue", { key = 0x90a3 }, at = 0x8000 },
	},
}

-- The same, but the second entry leads back to itself, and a third bucket has a wild pointer.
local damaged = {
	cdef = BEFORE_7, memory = before_7.memory,
	objects = {
		second = { "dictEntry", { key = 0x9023, v = { val = "list" }, next = "second" } },
		new = { "dictEntry *[4]", { 0, 0, "second", 0xdead0 } },
	},
}
for name, object in pairs(before_7.objects) do damaged.objects[name] = damaged.objects[name] or object end

return {
	{
		name = "tables before 7.0, during a resize", fixture = before_7, command = "keys",
		expect = { keys = { keys = {
			{ database = 0, key = "greeting", type = "string", encoding = "raw", elements = 11 },
			{ database = 0, key = "numbers", type = "hash", encoding = "ziplist", elements = 1 },
		} } },
	},
	{
		name = "a key before 7.0: ziplist's elements", fixture = before_7, command = "key", args = { "numbers" },
		expect = { key = { type = "hash", encoding = "ziplist", contents = { { field = "2", value = "5" } } } },
	},
	{
		name = "expiry before 7.0", fixture = before_7, command = "expires",
		expect = { expires = { databases = { { database = 0, keys = 2, expires = 1, overdue = 0, soonest = 60 } } } },
	},
	{
		name = "entries of 7.2 without values, and keys that are their own entries", fixture = since_7_2, command = "key",
		args = { "members" },
		expect = { key = { type = "set", encoding = "hashtable", contents = { { element = '"odd one"' }, { element = '"a bare one"' } } } },
	},
	{
		name = "keys selected by a glob", fixture = before_7, command = "keys", args = { "--match", "gr*" },
		expect = { keys = { keys = { { key = "greeting" } } } },
	},
	{
		name = "a cyclic chain and a wild pointer cost only themselves", fixture = damaged, command = "types",
		expect = { types = {
			types = { { type = "string", keys = 1 }, { type = "hash", keys = 1 } },
			notes = { "database 0: 2 entries or values cannot be read" },
		} },
	},
	{ name = "a database that does not exist", fixture = before_7, command = "keys", args = { "--db", "7" }, error = "there is no database 7" },
	{ name = "an option that does not exist", fixture = before_7, command = "keys", args = { "--dbx", "7" }, error = "unknown option" },
}
