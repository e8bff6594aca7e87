-- redis-keys.lua: what the server says of KEYS, or of the keys of the selected database, at most ARGV[1] of them, one per line:
-- database, key, type, encoding, MEMORY USAGE with SAMPLES 0, the same with the default samples, PEXPIRETIME,
-- elements, and of the first three of each type and encoding the first elements, separated by tabs.
local call = redis.call
local database, limit, seen = ARGV[2], tonumber(ARGV[1]), {}

local count = {
	string = function(key) return call("STRLEN", key) end,
	list = function(key) return call("LLEN", key) end,
	set = function(key) return call("SCARD", key) end,
	hash = function(key) return call("HLEN", key) end,
	zset = function(key) return call("ZCARD", key) end,
	stream = function(key) return call("XLEN", key) end,
}

local function entries(found)
	local flat = {}
	for _, entry in ipairs(found) do
		flat[#flat + 1] = entry[1]
		for _, part in ipairs(entry[2]) do flat[#flat + 1] = part end
	end
	return flat
end

local first = {
	string = function(key) return { call("GETRANGE", key, 0, 63) } end,
	list = function(key) return call("LRANGE", key, 0, 4) end,
	set = function(key) return call("SMEMBERS", key) end,
	hash = function(key) return call("HGETALL", key) end,
	zset = function(key) return call("ZRANGE", key, 0, 4, "WITHSCORES") end,
	stream = function(key) return entries(call("XRANGE", key, "-", "+", "COUNT", 2)) end,
}

local function plain(text)
	return (text:gsub("[^%w%p ]", function(c) return ("\\x%02x"):format(c:byte()) end))
end

local function line(key)
	local kind = call("TYPE", key).ok
	local encoding = call("OBJECT", "ENCODING", key)
	local name = kind .. " " .. encoding
	seen[name] = (seen[name] or 0) + 1
	local parts = { database, plain(key), kind, encoding, call("MEMORY", "USAGE", key, "SAMPLES", 0),
		call("MEMORY", "USAGE", key), ("%.0f"):format(call("PEXPIRETIME", key)), count[kind](key) }
	if seen[name] <= 3 then
		for _, element in ipairs(first[kind](key)) do parts[#parts + 1] = plain(element) end
	end
	return table.concat(parts, "\t")
end

local lines, cursor = {}, "0"
for _, key in ipairs(KEYS) do lines[#lines + 1] = line(key) end
if #KEYS > 0 then return lines end
repeat
	local page = call("SCAN", cursor, "COUNT", 1000)
	cursor = page[1]
	for _, key in ipairs(page[2]) do
		if #lines < limit then lines[#lines + 1] = line(key) end
	end
until cursor == "0" or #lines >= limit
return lines
