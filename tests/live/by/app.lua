-- app.lua: handlers that work for a known time, and say what each has spent, in nanoseconds of CPU time.
local ffi = require "ffi"
ffi.cdef "typedef struct { long sec, nsec; } by_time; int clock_gettime(int clock, by_time *now);"
local app, spent, least, now = {}, {}, {}, ffi.new "by_time"

local function cpu()
	ffi.C.clock_gettime(3, now) -- CLOCK_THREAD_CPUTIME_ID
	return tonumber(now.sec) * 1e9 + tonumber(now.nsec)
end

-- As in kinds.c: a time in which a host took the processor away is not booked.
local function book(name, before)
	local took = cpu() - before
	least[name] = math.min(least[name] or took, took)
	spent[name] = (spent[name] or 0) + math.min(took, 2 * least[name] + 1e6)
end

-- A function for each location: a sample in one is of that location. Called by name, they keep their names.
function app.x_slow(n)
	local x = 0.5
	for i = 1, n do x = (x * 3.1 + i) % 7.7 end
	return x
end

function app.x_quick(n)
	local x = 0.5
	for i = 1, n do x = (x * 3.1 + i) % 9.9 end
	return x
end

function app.slow(n)
	local before = cpu()
	ngx.say(app.x_slow(n))
	book("/slow", before)
end

function app.quick(n)
	local before = cpu()
	ngx.say(app.x_quick(n))
	book("/quick", before)
end

function app.account()
	for name, ns in pairs(spent) do ngx.say(("%s %.0f"):format(name, ns)) end
end
return app
