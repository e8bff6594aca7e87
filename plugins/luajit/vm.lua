-- The VMs of a process: global_State with its main thread and JIT state, found in several independent ways.
local xcore = require "xcore"
local damage = require "lib.damage"
local layout = require "luajit.layout"
local tvalue = require "luajit.tvalue"

local vm = {}
local VM = {}
VM.__index = VM

local SHOWN = 5 -- damages in a section

VM.damaged = damage.keep

-- Reports damage in a section, and that other VMs of the process were not examined.
function VM:tell(section)
	if self.others then
		section:note(("this is the VM at %s, one of %d"):format(xcore.hex(self.addr), self.others + 1),
			"luajit.vms lists them, --vm ADDR selects one")
	end
	if self.t.live and self.frozen then return require("luajit.still").tell(self, section) end
	damage.tell(self, section, SHOWN, "luajit.check shows all")
end

-- Has lua_newstate completed its work on the main thread? If not, the process died there, or the data was overwritten
-- later.
local function finished(t, L, g, thread)
	local stack, max = thread.stack[L.mref], thread.maxstack[L.mref]
	local base, top = thread.base and xcore.addr(thread.base) or 0, thread.top and xcore.addr(thread.top) or 0
	-- While a trace runs, the top is older and may be lower than the base.
	local function within(at) return at > stack and at <= max + 64 * 8 end
	if not (stack ~= 0 and within(base) and within(top)) then
		return false, "the main thread's stack is not in order"
	end
	local tag, registry = tvalue.decode({ t = t, g = g, layout = L }, t:u64(xcore.addr(xcore.ref(g, "registrytv"))))
	if tag ~= layout.TABLE or t:value("GCtab", registry).gct ~= layout.TABLE then
		return false, "the registry is not a table"
	end
	return true
end

-- A valid global_State: main thread and state point to each other, the stack is valid, the registry is a table.
-- Returns nil otherwise; then the problem, if it is a VM at least by its main thread.
local function prove(t, L, addr)
	local g = t:value("global_State", addr)
	local main = g.mainthref[L.ref]
	if main == 0 then return nil end
	local thread = t:value("lua_State", main)
	if thread.gct ~= layout.THREAD or thread.glref[L.mref] ~= addr then return nil end
	local read, is_finished, why = pcall(finished, t, L, g, thread)
	if not read then
		return nil, is_finished.message or tostring(is_finished)
	end
	if not is_finished then return nil, why end
	return g, thread
end

-- The bytes of a string object, at most `max`.
function VM:string(addr, max)
	local len = self.t:value("GCstr", addr).len
	if max and len > max then len = max end
	return self.t:read(addr + xcore.sizeof "GCstr", len)
end

-- The prototype of a Lua function: its code begins with the bytecode at `pc`.
function VM:proto_of(fn)
	return self.t:value("GCproto", fn.pc[self.layout.mref] - xcore.sizeof "GCproto")
end

-- The names of an enum's values without `prefix`, found by one of its enumerators: enum("FF_assert", "FF_"). Empty if
-- debug information lacks it and it cannot be known otherwise.
function VM:enum(enumerator, prefix)
	self.enums = self.enums or {}
	local names = self.enums[enumerator]
	if not names then
		names = {}
		local ok, found = pcall(function() return xcore.typeof(self.t:ref(enumerator)):enumerators() end)
		-- The first of several names for a number is its own, the others are aliases: IRT_P64 is also IRT_PGC.
		for _, e in ipairs(ok and found or {}) do names[e.value] = names[e.value] or e.name:gsub("^" .. prefix, "") end
		if not ok and self.layout.build then names = require("luajit.enums").names(self, prefix) end
		self.enums[enumerator] = names
	end
	return names
end

-- The name of a fast function: "string.gsub". The enum of their numbers is that of lj_ffdef.h.
function VM:builtin(ffid)
	local name = self:enum("FF_assert", "FF_")[ffid]
	return name and name:gsub("_", ".", 1) or "#" .. ffid
end

local function new(t, L, addr)
	local g, main = prove(t, L, addr)
	if not g then return nil, main end
	local self = { t = t, layout = L, g = g, addr = addr, main = main, ways = {} }
	local gg = addr - xcore.offsetof("GG_State", "g")
	if xcore.addr(main) == gg then
		self.gg = t:value("GG_State", gg)
		self.J = self.gg.J
	end
	local ctypes = g.ctype_state[L.mref]
	if ctypes ~= 0 then self.ctypes = t:value("CTState", ctypes) end
	return setmetatable(self, VM)
end

-- ---- ways ----

local ways = {}

-- nginx's main configuration of a Lua module holds the VM.
local function nginx_module(t, module)
	local cycle = t:var "ngx_cycle"
	local outer, inner =
		t:var(module == "ngx_stream_lua_module" and "ngx_stream_module" or "ngx_http_module"), t:var(module)
	local kind = module == "ngx_stream_lua_module" and "stream" or "http"
	local contexts = cycle.conf_ctx[outer.index]
	if not contexts then return 0 end
	local conf = xcore.cast(contexts, "ngx_" .. kind .. "_conf_ctx_t *").main_conf[inner.ctx_index]
	local state = conf and xcore.cast(conf, "ngx_" .. kind .. "_lua_main_conf_t *").lua
	return state and xcore.addr(state) or 0
end

function ways.nginx(t, add)
	for _, module in ipairs { "ngx_http_lua_module", "ngx_stream_lua_module" } do
		if t:has_var(module) and t:has_var "ngx_cycle" then add(nginx_module(t, module), "main conf of " .. module) end
	end
end

function ways.global(t, add)
	for _, name in ipairs { "globalL", "tarantool_L" } do
		if t:has_var(name) then
			local state = t:var(name)
			if state then add(xcore.addr(state), "variable " .. name) end
		end
	end
end

-- Any variable of any frame that is a lua_State *.
function ways.frame(t, add, threads)
	local function look(variables, frame)
		for _, v in ipairs(variables) do
			if v.value and not v.guessed and v.type:strip().kind == "pointer" and v.type:strip().target:strip().name:find "lua_State" then
				add(xcore.addr(v.value), "`" .. v.name .. "` of " .. (frame.name or "a frame"))
			end
		end
	end
	for i, thread in ipairs(threads) do
		if i > 64 then break end
		for _, frame in ipairs((thread:frames(256))) do
			look(frame:args(), frame)
			look(frame:locals(), frame)
		end
	end
end

-- The interpreter keeps the address of the dispatch table (x86-64) or of the state (aarch64) in a register.
function ways.register(t, add, threads)
	local name, back = "r14", xcore.offsetof("GG_State", "dispatch") - xcore.offsetof("GG_State", "g")
	if t.arch == "aarch64" then name, back = "x22", 0 end
	for _, thread in ipairs(threads) do
		for i, frame in ipairs((thread:frames(64))) do
			local value = frame:register(name)
			if value and value & 7 == 0 and t:readable(value - back, 64) == 64 then
				add(value - back, ("%s of thread %d, frame %d"):format(name, thread.tid, i - 1), true)
			end
		end
	end
end

-- Candidates for a main thread: a thread object, fixed for the collector, with a C function.
function ways.signature(t, add)
	local L = layout.of(t)
	local main = { gct = layout.THREAD, dummy_ffid = 1, ["glref." .. L.mref] = { 0x1000, (1 << 47) - 1 } }
	for addr in t:find { signature = { "lua_State", main }, writable = true } do
		if t:u8(addr + xcore.offsetof("lua_State", "marked")) & 0x60 ~= 0 then
			add(addr, "signature of a main thread")
		end
	end
end

local ORDER = { "nginx", "global", "frame", "register", "signature" }

-- To find just one VM, cheap ways come first, and the place of the crash before other places.
local QUICK = { "register", "nginx", "global", "frame", "signature" }

-- ---- all of them ----

local function state_of(t, L, state)
	if state == 0 or t:readable(state, 64) < 64 then return 0 end
	return t:value("lua_State", state).glref[L.mref]
end

-- The results so far: a list, the kind of each address (false: nothing), and VMs known only by their main thread.
local function search(t, L)
	return { t = t, L = L, list = {}, known = {}, broken = {} }
end

local function examine(s, g)
	local ok, found, why = pcall(new, s.t, s.L, g)
	s.known[g] = ok and found or false
	if s.known[g] then
		s.list[#s.list + 1] = found
	elseif ok and why then
		s.broken[#s.broken + 1] = { addr = g, why = why }
	end
end

-- The target of a way: a thread, or a state.
local function add(s, way, addr, how, is_global)
	local ok, g = pcall(function() return is_global and addr or state_of(s.t, s.L, addr) end)
	if not ok or g == 0 then return end
	if s.known[g] == nil then examine(s, g) end
	local found = s.known[g]
	if found and not found.ways[way] then
		found.ways[way] = how
		found.ways[#found.ways + 1] = how
	end
end

local function go(s, way, threads)
	return pcall(ways[way], s.t, function(...) add(s, way, ...) end, threads)
end

-- All VMs, each with the ways that led to it, and unfinished or damaged ones: { addr, why }. `which` limits the ways.
-- In a running process, all memory is searched only if nothing else led to one.
function vm.all(t, which)
	local s = search(t, layout.of(t))
	for _, way in ipairs(ORDER) do
		local skip = (which and which ~= way) or (way == "signature" and not which and t.live and #s.list > 0)
		if not skip then
			local ok, err = go(s, way, t:threads())
			if not ok and which then error(err, 0) end
		end
	end
	return s.list, s.broken
end

vm.WAYS = ORDER

-- The thread that died, or all.
local function threads_first(t)
	local threads = t:threads()
	for _, thread in ipairs(threads) do
		if thread.crashed then return { thread } end
	end
	return threads
end

-- The VM with a state or a thread at an address: no search is necessary.
local function named(t, addr)
	local s = search(t, layout.of(t))
	add(s, "user", addr, "--vm", true)
	if #s.list == 0 then add(s, "user", addr, "--vm") end
	if s.list[1] then return s.list[1] end
	error(xcore.error("not_found", ("there is no VM with its state at %s"):format(xcore.hex(addr))
		.. (s.broken[1] and ": " .. s.broken[1].why or ""), "luajit.vms lists them"))
end

-- The one VM that most processes have: that of the thread that died if there are several, or the one that the user
-- names by its state or a thread. Raises not_found.
function vm.one(t, addr)
	if addr then return named(t, addr) end
	local s = search(t, layout.of(t))
	for _, way in ipairs(QUICK) do
		local ok, err = go(s, way, way == "register" and threads_first(t) or t:threads())
		if #s.list > 0 then break end
	end
	local found, broken = s.list[1], s.broken[1]
	if not found then
		error(xcore.error("not_found", "no LuaJIT VM was found in this process"
			.. (broken and (", but a candidate at %s: %s"):format(xcore.hex(broken.addr), broken.why) or "")))
	end
	found.others = #s.list > 1 and #s.list - 1 or nil
	return found
end

return vm
