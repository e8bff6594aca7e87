-- redis-count.lua: "type encoding count" of the keys of database 0, one per line, sorted.
local counts = {}
local cursor = "0"
repeat
	local page = redis.call("SCAN", cursor, "COUNT", 1000)
	cursor = page[1]
	for _, key in ipairs(page[2]) do
		local kind = redis.call("TYPE", key).ok .. " " .. redis.call("OBJECT", "ENCODING", key)
		counts[kind] = (counts[kind] or 0) + 1
	end
until cursor == "0"
local lines = {}
for kind, count in pairs(counts) do
	lines[#lines + 1] = kind .. " " .. count
end
table.sort(lines)
return lines
