-- redis-fill.lua: values of every type and encoding; ARGV[1] of each type.
-- Every tenth, but at most about a thousand, is large enough for the second encoding of its type
-- (hashtable, skiplist, …).
local n = tonumber(ARGV[1])
local every = math.max(10, math.floor(n / 1000))
local call = redis.call

local function fill(key, count, add)
	for i = 1, count do
		add(key, i)
	end
end

for i = 1, n do
	local large = i % every == 0
	fill("list:" .. i, large and 60 or 4, function(key, j) call("RPUSH", key, "item " .. j .. " of " .. i) end)
	fill("set:" .. i, large and 20 or 4, function(key, j) call("SADD", key, large and "member:" .. j or j) end)
	fill("hash:" .. i, large and 150 or 3, function(key, j) call("HSET", key, "field:" .. j, i * j) end)
	fill("zset:" .. i, large and 150 or 3, function(key, j) call("ZADD", key, i + j / 8, "entry:" .. j) end)
	if i % 20 == 0 then
		call("HSET", "hash:" .. i, "long", string.rep("x", 100))
		call("PEXPIRE", "list:" .. i, 86400000 + i)
	end
end

for i = 1, 50 do
	local key = "stream:" .. i
	for j = 1, 5 + i do
		call("XADD", key, (1700000000000 + j) .. "-0", "sensor", i, "value", j * 1.5)
	end
	call("XGROUP", "CREATE", key, "workers", "0")
	call("XREADGROUP", "GROUP", "workers", "alice", "COUNT", 3, "STREAMS", key, ">")
	call("XREADGROUP", "GROUP", "workers", "bob", "COUNT", 1, "STREAMS", key, ">")
	call("SET", "raw:" .. i, string.rep("x", 100 * i))
	call("PFADD", "hll:" .. i, i, i + 1, i + 2)
	call("SETBIT", "bits:" .. i, i * 100, 1)
	call("GEOADD", "geo:" .. i, 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")
end
call("SET", "string:int", 12345)
call("SET", "string:embstr", "short")
call("SET", "string:raw", string.rep("long ", 2000))
call("SET", "string:binary", "\0\1\255 not text \n")
call("APPEND", "string:appended", "spare room at the end")
return n
