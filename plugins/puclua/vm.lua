-- The Lua states of a process: global_State with its main thread, found in several independent ways.
local xcore = require "xcore"
local damage = require "lib.damage"
local layout = require "puclua.layout"

local vm = {}
local VM = {}
VM.__index = VM

local SHOWN = 5  -- damages in a section
local SPARE = 32 -- more values than Lua keeps above the end of a stack

VM.damaged = damage.keep

-- Reports damage in a section, and that other states of the process were not examined.
function VM:tell(section)
	if self.others then
		section:note(("this is the state at %s, one of %d"):format(xcore.hex(self.addr), self.others + 1),
			"puclua.vms lists them, --vm ADDR selects one")
	end
	damage.tell(self, section, SHOWN)
end

-- Bytes that Lua counts.
function VM:total()
	return self.g.totalbytes + (self.layout.debt and self.g.GCdebt or 0)
end

-- The type of the object at an address.
function VM:kind(addr)
	return self.t:u8(addr + self.tt_at) & 0xf
end

-- The bytes of a string object, at most `max`, and its length.
function VM:string(addr, max)
	local s, L = self.t:value("TString", addr), self.layout
	local len
	if L.tagged_header then len = s.tsv.len else len = s.tt & 0xf0 == 0 and s.shrlen or s.u.lnglen end
	return self.t:read(addr + self.contents_at, max and math.ult(max, len) and max or len), len
end

-- A thread and its state point to the same main thread.
local function prove(t, addr)
	local thread = t:value("lua_State", addr)
	if thread.tt ~= layout.THREAD then return nil end
	local g = thread.l_G
	if not g then return nil end
	local main = g.mainthread
	if not main or main.tt ~= layout.THREAD or not main.l_G or xcore.addr(main.l_G) ~= xcore.addr(g) then return nil end
	return g, main
end

local function new(t, L, g, main)
	local self = { t = t, layout = L, g = g, addr = xcore.addr(g), main = main, ways = {} }
	self.tt_at = xcore.offsetof("GCObject", L.header .. "tt")
	self.contents_at = layout.at("TString", "contents") or xcore.sizeof "TString"
	return setmetatable(self, VM)
end

-- ---- ways ----

local ways = {}

-- Any variable of any frame that is a lua_State *.
function ways.frame(t, add)
	local function look(variables, frame)
		for _, v in ipairs(variables) do
			if v.value and not v.guessed and v.type:strip().kind == "pointer" and v.type:strip().target:strip().name:find "lua_State" then
				add(xcore.addr(v.value), "`" .. v.name .. "` of " .. (frame.name or "a frame"))
			end
		end
	end
	for i, thread in ipairs(t:threads()) do
		if i > 64 then break end
		for _, frame in ipairs((thread:frames(256))) do
			look(frame:args(), frame)
			look(frame:locals(), frame)
		end
	end
end

function ways.global(t, add)
	for _, name in ipairs { "globalL", "main_thread", "L", "lua" } do
		local ok, state = pcall(t.var, t, name)
		if ok and type(state) == "userdata" and xcore.typeof(state):strip().kind == "pointer" then
			add(xcore.addr(state), "variable " .. name)
		end
	end
end

-- Is a thread's top within its stack, a whole number of values above its start? In other data that leads back to
-- itself, as a large heap of any language has, the words there are anything.
local function has_stack(t, L, addr)
	local stack, top, last = t:u64(addr + L.stack), t:u64(addr + L.top), t:u64(addr + L.stack_last)
	local used, size = top - stack, last - stack
	t:u64(stack)
	return math.ult(0, size) and math.ult(used, size + SPARE * L.value_size) and used % L.value_size == 0 and
		size % L.value_size == 0
end

-- Candidates for a main thread. The round trip through its state proves it.
function ways.signature(t, add, L)
	local main = { tt = layout.THREAD, l_G = "pointer", ci = "pointer" }
	for addr in t:find { signature = { "lua_State", main }, writable = true } do
		local g = t:value("lua_State", addr).l_G
		local ok, is = pcall(function() return xcore.addr(g.mainthread) == addr and has_stack(t, L, addr) end)
		if ok and is then add(addr, "signature of a main thread") end
	end
end

local ORDER = { "global", "frame", "signature" }

local function search(t)
	local s = { list = {}, known = {}, layout = layout.of(t) }
	function s.add(way, addr, how)
		local ok, g, main = pcall(prove, t, addr)
		if not ok or not g then return end
		local at = xcore.addr(g)
		local found = s.known[at]
		if not found then
			found = new(t, s.layout, g, main)
			s.known[at] = found
			s.list[#s.list + 1] = found
		end
		if not found.ways[way] then
			found.ways[way] = how
			found.ways[#found.ways + 1] = how
		end
	end
	return s
end

local function go(s, t, way)
	pcall(ways[way], t, function(addr, how) s.add(way, addr, how) end, s.layout)
end

-- All states, each with the ways that led to it. `cheap`: memory is searched only if nothing else led to one.
function vm.all(t, cheap)
	local s = search(t)
	for _, way in ipairs(ORDER) do
		if not (cheap and way == "signature" and #s.list > 0) then go(s, t, way) end
	end
	return s.list
end

-- The states that variables lead to: memory is not searched.
function vm.named(t)
	local s = search(t)
	go(s, t, "global")
	go(s, t, "frame")
	return s.list
end

-- The state that the user names by its address or a thread; or the first one. Raises not_found.
function vm.one(t, addr)
	if addr then
		local s = search(t)
		s.add("user", addr, "--vm")
		if not s.list[1] then
			pcall(function() s.add("user", xcore.addr(t:value("global_State", addr).mainthread), "--vm") end)
		end
		if s.list[1] then return s.list[1] end
		error(xcore.error("not_found", "there is no Lua state at " .. xcore.hex(addr), "puclua.vms lists them"))
	end
	local list = vm.all(t, true)
	if not list[1] then error(xcore.error("not_found", "no Lua state was found in this process")) end
	list[1].others = #list > 1 and #list - 1 or nil
	return list[1]
end

return vm
