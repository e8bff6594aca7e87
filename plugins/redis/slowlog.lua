-- slowlog.lua: the commands that took longer than slowlog-log-slower-than, the newest first, as in SLOWLOG GET.
local xcore = require "xcore"
local adlist = require "redis.adlist"
local object = require "redis.object"
local sds = require "redis.sds"

local slowlog = {}

local MOST_ARGUMENTS = 32 -- maximum number that Redis keeps (slowlog.h)

local function describe(t, entry)
	return {
		id = entry.id, time = entry.time, microseconds = entry.duration,
		command = object.line(t, entry.argv, entry.argc, MOST_ARGUMENTS),
		addr = entry.peerid and sds.text(t, xcore.addr(entry.peerid), 256),
		name = entry.cname and sds.text(t, xcore.addr(entry.cname), 256),
	}
end

-- The entries, and {bad, why} for unreadable ones.
function slowlog.all(t)
	return adlist.collect(t:var "server".slowlog, "slowlogEntry *", function(entry) return describe(t, entry) end)
end

return slowlog
