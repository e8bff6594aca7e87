-- claims.lua: the targets of Redis's untyped pointers, for `xcore heap` (server.h, dict.h, 7.0; other versions have
-- some of these). A tag selects the type behind a `void *`: the encoding of an object, the function table of a dict.
local names = require "redis.names"

local claims = {}

-- sds (sds.h): | len | alloc | flags:1 | buf … with one of five headers, selected by the low bits of flags; the
-- pointer is to buf. The compiler omits sdshdr5: nothing in redis uses more of it than its one byte.
local HEADERS = { [0] = "char", "struct sdshdr8", "struct sdshdr16", "struct sdshdr32", "struct sdshdr64" }

local function entries(key, value)
	return { "dictEntry **", key = key, ["v.val"] = value or false, metadata = false }
end

local function list(value)
	local nodes = { "listNode *", value = value }
	return { "list *", head = nodes, tail = nodes }
end

-- Keys and values of dicts, by dict type.
local DICTS = {
	dbDictType = entries("sds", "robj *"),
	dbExpiresDictType = entries "sds",
	setDictType = entries "sds",
	zsetDictType = entries "sds",
	hashDictType = entries("sds", "sds"),
	commandTableDictType = entries("sds", "struct redisCommand *"),
	keylistDictType = entries("robj *", list "client *"),
	objectKeyPointerValueDictType = entries "robj *",
	objectKeyHeapPointerValueDictType = entries("robj *", "void *"),
	modulesDictType = entries("sds", "struct RedisModule *"),
	migrateCacheDictType = entries("sds", "migrateCachedSocket *"),
	stringSetDictType = entries "sds",
	sdsReplyDictType = entries "sds",
	sdsHashDictType = entries("sds", "sds"),
	shaScriptObjectDictType = entries("sds", "robj *"),
	optionToLineDictType = entries("sds", list "sds"),
	optionSetDictType = entries "sds",
	latencyTimeSeriesDictType = entries("char *", "struct latencyTimeSeries *"),
	engineDictType = entries("sds", "engineInfo *"),
	functionDictType = entries("sds", "functionInfo *"),
	engineStatsDictType = entries("sds", "functionsLibEngineStats *"),
	libraryFunctionDictType = entries("sds", "functionInfo *"),
	librariesDictType = entries("sds", "functionLibInfo *"),
	clusterNodesDictType = entries("sds", "clusterNode *"),
	moduleAPIDictType = entries("char *", false),
	instancesDictType = entries("sds", "sentinelRedisInstance *"),
	renamedCommandsDictType = entries("sds", "sds"),
	sdsKeyValueHashDictType = entries("sds", "sds"),
}

-- The target of a value's pointer, by encoding.
local VALUES = {
	[names.RAW] = "sds", [names.INT] = false, [names.EMBSTR] = "sds", [names.HASHTABLE] = "dict *",
	[names.SKIPLIST] = "zset *", [names.INTSET] = "intset *", [names.QUICKLIST] = "quicklist *",
	[names.RADIX] = "stream *", [names.LISTPACK] = "unsigned char *", [names.ZIPLIST] = "unsigned char *",
}

local LISTS = {
	clients = "client *", clients_to_close = "client *", slaves = "client *", monitors = "client *",
	clients_pending_write = "client *", clients_pending_read = "client *", unblocked_clients = "client *",
	clients_waiting_acks = "client *", ready_keys = "readyList *", slowlog = "slowlogEntry *",
}

function claims.make(heap)
	heap:header { pointer = "sds", at = -1, mask = 7, cases = HEADERS }
	heap:rule { type = "redisObject", field = "ptr", by = "encoding", cases = VALUES }
	for _, table in ipairs { "ht_table", "ht" } do
		heap:rule { type = "dict", field = table, by = "type", cases = DICTS }
	end
	for field, value in pairs(LISTS) do
		heap:rule { type = "redisServer", field = field, to = list(value) }
	end
end

return claims
