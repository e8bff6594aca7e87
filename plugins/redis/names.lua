-- names.lua: names of numbers that Redis's debug information lacks because they are macros (server.h, 4.0 to 7.4).
local names = {}

names.TYPES = { [0] = "string", "list", "set", "zset", "hash", "module", "stream" }
names.STRING, names.LIST, names.SET, names.ZSET, names.HASH, names.MODULE, names.STREAM = 0, 1, 2, 3, 4, 5, 6

names.ENCODINGS = { [0] = "raw", "int", "hashtable", "zipmap", "linkedlist", "ziplist", "intset", "skiplist", "embstr",
	"quicklist", "stream", "listpack", "listpackex" }
names.RAW, names.INT, names.HASHTABLE, names.ZIPLIST, names.INTSET, names.SKIPLIST = 0, 1, 2, 5, 6, 7
names.EMBSTR, names.QUICKLIST, names.RADIX, names.LISTPACK = 8, 9, 10, 11

names.BLOCKED = { [0] = "none", "list", "wait", "module", "stream", "zset", "postponed", "shutdown" }

names.REPLICA_STATES = { [6] = "wait_bgsave", [7] = "wait_bgsave", [8] = "send_bulk", [9] = "online",
	[10] = "rdb_transmitted" }

names.CHILDREN = { [0] = "none", "rdb save", "aof rewrite", "lua debugger", "module fork" }

-- Bits of client.flags, in the order of the letters of CLIENT LIST.
names.CLIENT = {
	REPLICA = 1 << 0, MASTER = 1 << 1, MONITOR = 1 << 2, MULTI = 1 << 3, BLOCKED = 1 << 4, DIRTY_CAS = 1 << 5,
	CLOSE_AFTER_REPLY = 1 << 6, UNBLOCKED = 1 << 7, CLOSE_ASAP = 1 << 10, UNIX_SOCKET = 1 << 11, READONLY = 1 << 17,
	PUBSUB = 1 << 18, TRACKING = 1 << 31, TRACKING_BROKEN = 1 << 32, TRACKING_BCAST = 1 << 33, NO_EVICT = 1 << 43,
}
local C = names.CLIENT
names.CLIENT_LETTERS = {
	{ C.MASTER, "M" }, { C.PUBSUB, "P" }, { C.MULTI, "x" }, { C.BLOCKED, "b" }, { C.TRACKING, "t" },
	{ C.TRACKING_BROKEN, "R" }, { C.TRACKING_BCAST, "B" }, { C.DIRTY_CAS, "d" }, { C.CLOSE_AFTER_REPLY, "c" },
	{ C.UNBLOCKED, "u" }, { C.CLOSE_ASAP, "A" }, { C.UNIX_SOCKET, "U" }, { C.READONLY, "r" }, { C.NO_EVICT, "e" },
}

function names.client_flags(flags)
	local text = ""
	if flags & C.REPLICA ~= 0 then text = flags & C.MONITOR ~= 0 and "O" or "S" end
	for _, letter in ipairs(names.CLIENT_LETTERS) do
		if flags & letter[1] ~= 0 then text = text .. letter[2] end
	end
	return text == "" and "N" or text
end

return names
