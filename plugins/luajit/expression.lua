-- expression: the syntax for values: `package.loaded["app"].users[3]`, `registry[&key]`, an address, and the paths
-- that luajit.path prints: `_G.world.holder → upvalue hidden`.
--
--	START     NAME of a global or a loaded module | _G | registry | ADDR of an object | *ADDR of a value in memory
--	STEP      .NAME | ["TEXT"] | [NUMBER] | [true] | [&SYMBOL] | [TYPE ADDR] | → upvalue NAME | → metatable | → environment
local xcore = require "xcore"
local layout = require "luajit.layout"
local proto = require "luajit.proto"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"

local expression = {}

local HINT =
	[[write it as in Lua: package.loaded["app"].users[3]; or an address; `registry` and `_G` are where all begins]]

local function usage(format, ...)
	error(xcore.error("usage", format:format(...), HINT))
end

-- ---- text → steps ----

local ESCAPE = { n = "\n", r = "\r", t = "\t" }

local function unescape(text)
	text = text:gsub(
		"\\(%d%d?%d?)",
		function(digits) return tonumber(digits) < 256 and "\0" .. string.char(tonumber(digits)) or nil end
	)
	return (text:gsub("\\(.)", function(c) return ESCAPE[c] or c end):gsub("%z(.)", "%1"))
end

local function quoted(text, at)
	local mark = text:sub(at, at)
	local from = at + 1
	local here = from
	while here <= #text do
		local c = text:sub(here, here)
		if c == mark then return unescape(text:sub(from, here - 1)), here + 1 end
		here = here + (c == "\\" and 2 or 1)
	end
	usage("a %s is missing", mark)
end

-- A key in brackets that is not text, in the form of tables.get.
local function plain_key(text)
	if text == "true" or text == "false" then return { boolean = text == "true" } end
	if text:sub(1, 1) == "&" then return { symbol = text:sub(2) } end
	local kind, addr = text:match "^(%a+) (0x%x+)"
	if kind then return kind == "lightuserdata" and { light = tonumber(addr) } or { object = tonumber(addr) } end
	local number = tonumber(text)
	return number and { number = number } or nil
end

local function bracket(text, at)
	local mark, key = text:sub(at + 1, at + 1), nil
	if mark == '"' or mark == "'" then
		key, at = quoted(text, at + 1)
		if text:sub(at, at) ~= "]" then usage("a ] is missing in '%s'", text) end
		return { key = { text = key } }, at + 1
	end
	local inside, behind = text:match("^%[([^%]]*)%]()", at)
	key = inside and plain_key(inside)
	if not key then usage("'%s' is not a key", inside or text:sub(at)) end
	return { key = key }, behind
end

local function arrow(text, at)
	local word, behind = text:match("^(%a+)()", at)
	if word == "metatable" or word == "environment" then return { special = word }, behind end
	local name
	name, behind = text:match("^upvalue%s+([%w_#]+)()", at)
	if not name then usage("'%s' is not one of: upvalue NAME, metatable, environment", text:sub(at)) end
	return { upvalue = name }, behind
end

local function step(text, at)
	local name, behind = text:match("^%.([%a_][^%.%[%s]*)()", at)
	if name then return { key = { text = name }, dotted = true }, behind end
	if text:sub(at, at) == "[" then return bracket(text, at) end
	for _, sign in ipairs { "→", "%->" } do
		behind = text:match("^" .. sign .. "%s*()", at)
		if behind then return arrow(text, behind) end
	end
	usage("'%s' is not understood", text:sub(at))
end

local function parse(text)
	local star, number, at = text:match "^(%*?)(0?x?%x+)()"
	local start
	if number and tonumber(number) and not text:match("^[%w_]", at) then
		start = { addr = math.tointeger(tonumber(number)), value = star ~= "" }
		if not start.addr then usage("'%s' is not an address", number) end
	else
		start = { name = text:match "^[%a_][%w_]*" }
		if not start.name then usage("'%s' begins with neither a name nor an address", text) end
		at = #start.name + 1
	end
	local steps = {}
	at = text:match("^%s*()", at)
	while at <= #text do
		steps[#steps + 1], at = step(text, at)
		at = text:match("^%s*()", at)
	end
	return start, steps
end

-- ---- steps → value ----

local Walk = {}
Walk.__index = Walk

function Walk:missing(what)
	error(xcore.error("usage", ("%s: %s"):format(self.text, what)))
end

local function readable(vm, addr)
	if vm.t:readable(addr, 16) < 16 then error(xcore.error("usage", xcore.hex(addr) .. " is not in memory")) end
end

-- Any address is accepted if it looks like an object.
local function object_at(vm, addr)
	readable(vm, addr)
	local gct = vm.t:u8(addr + xcore.offsetof("GChead", "gct"))
	local ok = gct >= layout.STRING and gct <= layout.USERDATA and addr & 3 == 0
	local next = ok and vm.t:value("GChead", addr).nextgc[vm.layout.ref] & ~1 or 0
	if not ok or next ~= 0 and vm.t:readable(next, 8) < 8 then
		error(xcore.error("usage", xcore.hex(addr) .. " is not an object of LuaJIT",
			"*ADDR shows the value at an address"))
	end
	return tvalue.of_object(vm, addr)
end

-- A module of package.loaded. Its name may contain dots, so the longest existing name is taken. Its steps are
-- removed.
local function from_loaded(self, name, steps)
	local loaded, names = tables.loaded(self.vm), { name }
	for i, one in ipairs(steps) do
		if not one.dotted then break end
		names[i + 1] = names[i] .. "." .. one.key.text
	end
	for i = loaded and #names or 0, 1, -1 do
		local bits, at = loaded:get { text = names[i] }
		if bits then
			table.move(steps, i, #steps + i, 1)
			self.notes[#self.notes + 1] = ("'%s' is not a global but a module of package.loaded"):format(names[i])
			return bits, at
		end
	end
	self:missing(("there is no global and no loaded module '%s'"):format(name))
end

local function from_name(self, name, steps)
	local vm = self.vm
	if name == "registry" then return tvalue.encode(vm, layout.TABLE, tables.registry(vm).addr) end
	local globals = tables.globals(vm)
	if name == "_G" then return tvalue.encode(vm, layout.TABLE, globals.addr) end
	local bits, at = tables.index(vm, layout.TABLE, globals.addr, { text = name })
	if bits then return bits, at end
	return from_loaded(self, name, steps)
end

local function begin(self, start, steps)
	if start.name then return from_name(self, start.name, steps) end
	if start.value then
		readable(self.vm, start.addr)
		return self.vm.t:u64(start.addr), start.addr
	end
	return object_at(self.vm, start.addr)
end

local function key_text(key)
	if key.text then return '"' .. key.text .. '"' end
	for _, kind in ipairs { "number", "symbol", "boolean" } do
		if key[kind] ~= nil then return tostring(key[kind]) end
	end
	return xcore.hex(key.light or key.object)
end

local FOLLOW = {}

function FOLLOW.key(self, tag, addr, key)
	local bits, at, steps = tables.index(self.vm, tag, addr, key)
	if not bits then
		self:missing(
			("no value under %s in %s %s"):format(key_text(key), layout.NAMES[tag] or "a value", xcore.hex(addr))
		)
	end
	if steps > 0 then self.notes[#self.notes + 1] = key_text(key) .. " was found through __index" end
	return bits, at
end

-- The address of an upvalue of a Lua function, by name or number.
function expression.upvalue(vm, fn, index)
	local at = xcore.addr(fn) + xcore.offsetof("GCfuncL", "uvptr") + (index - 1) * vm.layout.ref_size
	local upvalue = vm.layout.gc64 and vm.t:u64(at) or vm.t:u32(at)
	return vm.t:value("GCupval", upvalue).v[vm.layout.mref]
end

function FOLLOW.upvalue(self, tag, addr, name)
	if tag ~= layout.FUNCTION then self:missing "only functions have upvalues" end
	local vm = self.vm
	local fn = vm.t:value("GCfuncL", addr)
	local names = fn.ffid == 0 and proto.upvalues(vm, vm:proto_of(fn)) or {}
	for i = 1, fn.nupvalues do
		if names[i] == name or tostring(i) == name then
			local at = fn.ffid == 0 and expression.upvalue(vm, fn, i)
				or addr + xcore.offsetof("GCfuncC", "upvalue") + 8 * (i - 1)
			return vm.t:u64(at), at
		end
	end
	self:missing(
		("no upvalue '%s' among %s"):format(
			name,
			#names > 0 and table.concat(names, ", ") or fn.nupvalues .. " without names"
		)
	)
end

local STRUCTS = { [layout.FUNCTION] = "GCfuncL", [layout.THREAD] = "lua_State", [layout.USERDATA] = "GCudata" }

function FOLLOW.special(self, tag, addr, what)
	local found
	if what == "metatable" then
		local metatable = tables.metatable(self.vm, tag, addr)
		found = metatable and metatable.addr
	elseif STRUCTS[tag] then
		found = self.vm.t:value(STRUCTS[tag], addr).env[self.vm.layout.ref]
	end
	if not found or found == 0 then self:missing(("a %s has no %s"):format(layout.NAMES[tag], what)) end
	return tvalue.encode(self.vm, layout.TABLE, found)
end

-- The value of an expression: its 64 bits, its address (nil: none), and notes on how it was found. Raises usage.
function expression.eval(vm, text)
	local start, steps = parse(text)
	local self = setmetatable({ vm = vm, text = text, notes = {} }, Walk)
	local bits, at = begin(self, start, steps)
	for _, one in ipairs(steps) do
		local tag, addr = tvalue.decode(vm, bits)
		if tag < layout.STRING or tag > layout.USERDATA then
			self:missing(("a %s has nothing within"):format(layout.NAMES[tag]))
		end
		for kind, follow in pairs(FOLLOW) do
			if one[kind] then
				bits, at = follow(self, tag, addr, one[kind])
				break
			end
		end
	end
	return bits, at, self.notes
end

return expression
