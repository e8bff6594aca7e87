-- slowlog.lua: the commands that took longer than slowlog-log-slower-than, the newest first, as SLOWLOG GET gives them.
local xcore = require "xcore"
local adlist = require "redis.adlist"
local fault = require "redis.fault"
local object = require "redis.object"
local sds = require "redis.sds"

local slowlog = {}

local MOST_ARGUMENTS = 32 -- what Redis keeps of them (slowlog.h)

local function describe(t, entry)
	return {
		id = entry.id, time = entry.time, microseconds = entry.duration,
		command = object.line(t, entry.argv, entry.argc, MOST_ARGUMENTS),
		addr = entry.peerid and sds.text(t, xcore.addr(entry.peerid), 256),
		name = entry.cname and sds.text(t, xcore.addr(entry.cname), 256),
	}
end

function slowlog.all(t)
	local all, bad = {}, 0
	for _, entry in ipairs((adlist.values(t, t:var "server".slowlog, "slowlogEntry *"))) do
		local found = fault.try(describe, t, entry)
		if found then all[#all + 1] = found else bad = bad + 1 end
	end
	return all, bad
end

return slowlog
