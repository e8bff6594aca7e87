-- nginx.lua: the application of the nginx recipe: a large heap, requests in every state, a crash.
local ffi = require("ffi")

local M = { users = {}, index = {}, closures = {} }

-- About n GC objects: a table and two strings per user, a closure for every fifth.
function M.fill(n)
	for i = 1, math.floor(n / 3.2) do
		local user = { id = i, name = "user" .. i, mail = i .. "@example.org" }
		M.users[i] = user
		M.index[user.name] = user
		if i % 5 == 0 then
			M.closures[#M.closures + 1] = function() return user end
		end
	end
end

function M.start_timers()
	local function tick(premature, name)
		if not premature then
			ngx.shared.counters:incr(name, 1, 0)
		end
	end
	assert(ngx.timer.every(0.05, tick, "ticks"))
	assert(ngx.timer.at(3600, tick, "one hour"))
end

function M.lookup()
	local number = tonumber(ngx.var.arg_n) or 1
	local user = M.users[number % #M.users + 1]
	ngx.shared.sessions:set("session:" .. number, user.mail, 300)
	local digits = ngx.re.match(user.name, [[^([a-z]+)(\d+)$]], "jo")
	ngx.say(digits[2], " ", user.mail)
end

-- Light threads that sleep, so that suspended coroutines are there at any moment.
function M.threads()
	local threads = {}
	for i = 1, 3 do
		threads[i] = ngx.thread.spawn(function(step)
			ngx.sleep(0.01 * step)
			return step
		end, i)
	end
	local inner = ngx.location.capture("/user/inner")
	for i = 1, 3 do
		ngx.thread.wait(threads[i])
	end
	ngx.print(inner.body)
end

function M.body()
	ngx.req.read_body()
	local data = ngx.req.get_body_data() or ""
	ngx.say(#data, " ", ngx.md5(data))
end

function M.account()
	ngx.say("lua_kilobytes ", math.floor(collectgarbage("count")))
	ngx.say("users ", #M.users, "\nclosures ", #M.closures)
	ngx.say("timers_pending ", ngx.timer.pending_count())
	ngx.say("sessions ", #ngx.shared.sessions:get_keys(0))
	ngx.say("ticks ", ngx.shared.counters:get("ticks") or 0)
end

local function store(depth, address)
	if depth > 0 then
		local kept = { depth = depth }
		local result = store(depth - 1, address)
		return result + kept.depth
	end
	ffi.cast("int *", address)[0] = 42 -- the end
	return 0
end

function M.crash()
	ngx.say("last words")
	local sum = store(13, 0) -- no tail call: 14 frames of store, this one and the handler
	ngx.say(sum)
end

return M
