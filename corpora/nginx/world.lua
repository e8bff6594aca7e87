-- world.lua: the application of build-nginx's cases. It plants what it can count, keeps requests waiting in every way a handler can wait,
-- and writes what it holds to the account before the worker's core is taken.
local ffi = require("ffi")

local M = { requests = {}, threads = {}, planted = {} }
local inside, tell, backend

local function remember(list, id, co)
	list[#list + 1] = { id = id, co = co }
end

-- ── what it holds ──────────────────────────────────────────────────────────────────────────────

local function plant_users(count)
	local lrucache = require("resty.lrucache")
	M.users, M.cache = {}, assert(lrucache.new(count * 10)) -- never evicts, which is the leak
	for i = 1, count do
		M.users[i] = { id = i, name = "user " .. i }
	end
	for i = 1, count / 2 do
		M.cache:set("leaked key " .. i, { number = i, text = ("leaked %06d "):format(i):rep(10) })
	end
	M.planted[#M.planted + 1] = { name = "users", where = "app.users", count = count }
	M.planted[#M.planted + 1] = { name = "lrucache", where = "app.cache", count = count / 2, value_bytes = 140 }
end

local function plant_shared()
	local known, small = ngx.shared.known, ngx.shared.small
	for i = 1, 100 do known:set("key " .. i, "value " .. i) end
	for i = 1, 20 do known:set("expires " .. i, i * 1.5, 3600, i) end
	known:set("flag", true)
	for i = 1, 5 do known:lpush("list", "item " .. i) end
	for i = 1, 2000 do small:set("small " .. i, ("s"):rep(100)) end
end

function M.start(case, inside_path, port, thousands, tell_path)
	M.case, backend = case, port
	inside = assert(package.loadlib(inside_path, "luaopen_inside"))()
	tell = assert(loadfile(tell_path))(inside)
	plant_users(thousands * 1000)
	plant_shared()
	return M
end

local function tick(premature, name)
	if not premature then M.ticks = (M.ticks or 0) + 1 end
	return name
end

function M.start_worker()
	inside.open(M.case .. "/account.jsonl", M.case .. "/objects")
	for i = 1, 5 do assert(ngx.timer.at(3600 + i, tick, "far " .. i)) end
	assert(ngx.timer.every(1800, tick, "ticks")) -- one that goes off while the core is taken would make it another than its account
	for i = 1, 2 do
		assert(ngx.timer.at(0, function(_, name)
			remember(M.threads, name, coroutine.running())
			ngx.sleep(3600)
		end, "running timer " .. i))
	end
end

-- Once: connections that wait in pools for somebody to use them again.
function M.plant_later()
	local function pooled(count, options)
		local sockets = {}
		for i = 1, count do
			sockets[i] = ngx.socket.tcp()
			assert(sockets[i]:connect("127.0.0.1", backend, options))
			assert(sockets[i]:send("PING\n"))
			assert(sockets[i]:receive())
		end
		for i = 1, count do assert(sockets[i]:setkeepalive(3600000, 10)) end
	end
	pooled(4)
	pooled(2, { pool = "named pool" })
	M.planted[#M.planted + 1] = { name = "cosockets", pools = { { key = "127.0.0.1:" .. backend, idle = 4 }, { key = "named pool", idle = 2 } } }
	ngx.say("planted")
end

-- ── requests that wait ─────────────────────────────────────────────────────────────────────────

local waits = {}

function waits.sleep(id)
	local text = "request " .. id
	ngx.sleep(3600)
	return text
end

local function inner(depth, id, ...)
	local count = select("#", ...)
	if depth == 0 then
		ngx.sleep(3600)
		return count
	end
	local result = inner(depth - 1, id, depth, ...)
	return result + 1
end

function waits.nested(id)
	local ok, result = pcall(function(argument)
		local kept = { argument }
		local got = inner(5, argument)
		return got + #kept
	end, id)
	return ok, result
end

function waits.threads(id)
	local threads = {}
	for i = 1, 3 do
		threads[i] = ngx.thread.spawn(function(step)
			local name = "thread " .. step .. " of " .. id
			remember(M.threads, name, coroutine.running())
			ngx.sleep(3600 + step)
			return name
		end, i)
	end
	local ok = ngx.thread.wait(threads[1])
	return ok
end

function waits.capture(id)
	local answer = ngx.location.capture("/upstream/captured", { args = { id = id } })
	return answer.status
end

function waits.cosocket(id)
	local socket = ngx.socket.tcp()
	socket:settimeout(3600000)
	assert(socket:connect("127.0.0.1", backend))
	assert(socket:send("WAIT " .. id .. "\n"))
	local line = socket:receive()
	return line
end

function waits.body()
	ngx.req.read_body()
	return #ngx.req.get_body_data()
end

-- Each header's value is copied into the request's pool, which is given back when the request ends. It does not.
function waits.leak(id)
	for i = 1, 1000 do ngx.req.set_header("X-Leak", ("%04d"):format(i) .. ("l"):rep(1996)) end
	ngx.sleep(3600)
	return id
end

function waits.print()
	local page = ("p"):rep(65536)
	for _ = 1, 400 do
		ngx.print(page)
		ngx.flush(true)
	end
	return #page
end

function M.serve()
	local id, how = ngx.var.arg_id, ngx.var.uri:match("[^/]*$")
	remember(M.requests, id, coroutine.running())
	local wait = waits[how] or M.crash
	local result = wait(id)
	return result
end

-- ── the account ────────────────────────────────────────────────────────────────────────────────

local function tell_shared(name)
	local dict, keys = ngx.shared[name], {}
	for i, key in ipairs(dict:get_keys(0)) do
		local value, flags = dict:get(key)
		keys[i] = { key = key, type = type(value), value = tostring(value), flags = flags, expires = (dict:ttl(key) or 0) > 0 }
	end
	table.sort(keys, function(a, b) return a.key < b.key end)
	tell.write("shdict", { name = name, count = #keys, capacity = dict:capacity(), free_bytes = dict:free_space(), keys = keys })
end

-- Of those who wait, and have not ended: id and coroutine. coroutine.status is the Lua module's here and calls those of other requests dead.
local function waiting(list)
	local i = 0
	return function()
		repeat
			i = i + 1
			local one = list[i]
			if one and one.co ~= coroutine.running() and debug.getinfo(one.co, 0) then return one.id, one.co end
		until not one
	end
end

local function tell_coroutines(what, list)
	for id, co in waiting(list) do
		tell.write(what, { id = id, addr = inside.address(co), traceback = debug.traceback(co), frames = tell.frames_of(co, 0) })
	end
end

-- For the driver: who waits, and in which function.
function M.waiting()
	for _, list in ipairs { M.requests, M.threads } do
		for id, co in waiting(list) do ngx.say(id, "\t", debug.getinfo(co, 0, "n").name) end
	end
end

local function tell_world()
	tell.write("engine", { version = jit.version, arch = jit.arch, gc64 = ffi.abi("gc64"), nginx = ngx.config.nginx_version,
		lua = ngx.config.ngx_lua_version, debug = ngx.config.debug, configure = ngx.config.nginx_configure() })
	for _, planted in ipairs(M.planted) do tell.write("planted", planted) end
	tell_coroutines("request-coroutine", M.requests)
	tell_coroutines("thread-coroutine", M.threads)
	tell_shared("known")
	tell_shared("small")
	tell.write("timers", { pending = ngx.timer.pending_count(), running = ngx.timer.running_count() })
	tell.write("worker", { pid = ngx.worker.pid(), now = ngx.now() })
end

function M.account()
	tell_world()
	ngx.say("told")
end

local function store(depth, where)
	local kept = { depth = depth }
	if depth == 0 then
		tell.write("dies", { traceback = debug.traceback("", 1), line = debug.getinfo(1, "l").currentline + 2 })
		inside.tell()
		where[0] = 42 -- the end
		return 0
	end
	local result = store(depth - 1, where)
	return result + kept.depth
end
jit.off(store)

-- Dies in a request of this phase; with "timer" in a timer, with "thread" in a light thread.
function M.crash(id)
	local how, where = ngx.var.arg_how, ffi.cast("int32_t *", 0)
	local function die()
		tell_world()
		local sum = store(5, where)
		return sum
	end
	if how == "timer" then
		assert(ngx.timer.at(0, die))
	elseif how == "thread" then
		ngx.thread.wait(ngx.thread.spawn(die))
	else
		die()
	end
	return id
end

return M
