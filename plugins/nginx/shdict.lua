-- shdict.lua: the keys of a lua_shared_dict (ngx_http_lua_shdict.h, 0.10.23; the same since 0.10.7).
--
--	ngx_rbtree_node_t | key | left | right | parent | color | data |
--	                                                ↓ the dictionary's node begins here
--	ngx_http_lua_shdict_node_t | color | value_type | key_len | value_len | expires | queue | user_flags | key … value … |
--	a list's value_len counts its elements; their queue's head stands after the key, aligned to a word
local xcore = require "xcore"
local list = require "nginx.list"
local slab = require "nginx.slab"
local zones = require "nginx.zones"

local shdict = {}

local TYPES = { [0] = "nil", [1] = "boolean", [3] = "number", [4] = "string", [5] = "list" }
local NUMBER, BOOLEAN, STRING, LIST = 3, 1, 4, 5
local LONGEST = 4096
local FETCHED = 32 << 20 -- bytes
local FIELDS = { "value_type", "key_len", "value_len", "expires", "user_flags" }

local function align(address, to)
	return address + to - 1 & -to
end

-- The dictionary's part in shared memory.
local function shared(t, zone)
	local prefix = zone.module:gsub("_module$", "")
	local context = zones.context(t, zone, prefix .. "_shdict_ctx_t")
	if not context or context.sh == nil then error(xcore.error("fault", zone.name .. ": its dictionary cannot be read")) end
	return xcore.deref(context.sh), prefix
end

-- Reads all at once, to limit changes of a running process during the read.
local function fetch(t, zone)
	if t.live and math.ult(zone.size, FETCHED) then pcall(t.read, t, zone.addr, zone.size) end
end

-- A queue that changes during the walk ends too early: keys found only in the tree are appended.
local function add_from_tree(t, type, columns, count, nodes)
	local seen, rest, back = {}, {}, xcore.offsetof("ngx_rbtree_node_t", "color")
	for i = 1, count do seen[columns[1][i]] = true end
	for _, node in ipairs(nodes) do
		if not seen[node + back] then rest[#rest + 1] = node + back end
	end
	local more = xcore.gather(type, rest, FIELDS, { partial = true })
	for i, at in ipairs(rest) do
		if more.key_len[i] then
			count = count + 1
			columns[1][count] = at
			for _, field in ipairs(FIELDS) do columns[field][count] = more[field][i] end
		end
	end
	return count
end

-- All entries as columns, most recently used first: { at, kind, key_len, value_len, expires (ms since 1970, 0 never),
-- flags }, their number, and the reason if the list is incomplete. `queued` of them are in the queue, `nodes` in the
-- tree of height `height`; a running process changes both during the read.
function shdict.entries(t, zone)
	fetch(t, zone)
	local sh, prefix = shared(t, zone)
	local type = prefix .. "_shdict_node_t"
	local columns, count, why = zones.queue(sh.lru_queue, type, "queue", FIELDS)
	for _, field in ipairs(FIELDS) do columns[field] = columns[field] or {} end
	local nodes, height, tree_why = list.tree_nodes(sh.rbtree)
	local queued = count
	if t.live or why then count = add_from_tree(t, type, columns, count, nodes) end
	return { at = columns[1], kind = columns.value_type, key_len = columns.key_len, value_len = columns.value_len, expires = columns.expires,
		flags = columns.user_flags, type = type, prefix = prefix, data = xcore.offsetof(type, "data"), queued = queued, nodes = #nodes,
		height = height }, count, why or tree_why
end

-- The number of keys.
function shdict.count(t, zone)
	if t.live then
		local _, count = shdict.entries(t, zone)
		return count
	end
	local sh, prefix = shared(t, zone)
	local _, count = zones.queue(sh.lru_queue, prefix .. "_shdict_node_t", "queue")
	return count
end

function shdict.key(t, entries, i)
	return t:read(entries.at[i] + entries.data, entries.key_len[i])
end

function shdict.kind(entries, i)
	return TYPES[entries.kind[i]] or "type " .. entries.kind[i]
end

-- Bytes of an entry in the slab. The elements of a list are separate blocks and not included.
function shdict.bytes(t, entries, i)
	local value = entries.kind[i] == LIST and xcore.sizeof "ngx_queue_t" or entries.value_len[i]
	return slab.rounded(t, xcore.offsetof("ngx_rbtree_node_t", "color") + entries.data + entries.key_len[i] + value)
end

local function read_value(t, kind, at, len)
	if kind == NUMBER and len == 8 then return ("%.14g"):format(t:f64(at)) end
	if kind == BOOLEAN and len == 1 then return t:u8(at) ~= 0 and "true" or "false" end
	if kind == STRING then return len == 0 and "" or t:read(at, math.min(len, LONGEST)) end
end

-- The value as text; nil for unknown types, and for lists.
function shdict.value(t, entries, i)
	return read_value(t, entries.kind[i], entries.at[i] + entries.data + entries.key_len[i], entries.value_len[i])
end

-- The elements of a list: { type, value }; nil if the entry is not a list.
function shdict.elements(t, entries, i, most)
	if entries.kind[i] ~= LIST then return nil end
	local type = entries.prefix .. "_shdict_list_node_t"
	local head = t:value("ngx_queue_t", align(entries.at[i] + entries.data + entries.key_len[i], xcore.sizeof "ngx_uint_t"))
	local found, data = {}, xcore.offsetof(type, "data")
	for node in list.queue(head, type, "queue") do
		if #found == most then break end
		found[#found + 1] = { type = TYPES[node.value_type],
			value = read_value(t, node.value_type, xcore.addr(node) + data, node.value_len) }
	end
	return found
end

-- The position of a key among the entries; nil if it is absent.
function shdict.find(t, entries, count, key)
	for i = 1, count do
		if entries.key_len[i] == #key and shdict.key(t, entries, i) == key then return i end
	end
end

return shdict
