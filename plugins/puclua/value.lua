-- value: a short description of a Lua value: 17, "text", table 0x… (3 in its array, 2 nodes), function app.lua:12.
local xcore = require "xcore"
local layout = require "puclua.layout"

local value = {}

-- A string in Lua syntax, cut to `max` bytes.
function value.quote(text, max)
	local cut = max and #text > max
	if cut then text = text:sub(1, max) end
	text = text:gsub('[%c"\\\127-\255]', function(c)
		if c == '"' or c == "\\" then return "\\" .. c end
		if c == "\n" then return "\\n" end
		return not utf8.len(text) and ("\\x%02x"):format(c:byte())
			or c:byte() >= 128 and c
			or ("\\x%02x"):format(c:byte())
	end)
	return '"' .. text .. '"' .. (cut and "…" or "")
end

-- "app.lua" for "@app.lua", "[string "…"]" for a text. And whether it is a file.
function value.source(vm, pt)
	if not pt.source then return "?", false end
	local ok, text = pcall(vm.string, vm, xcore.addr(pt.source), 512)
	if not ok then return "?", false end
	if text:find "^[@=]" then return text:sub(2), text:sub(1, 1) == "@" end
	return "[string " .. value.quote(text:match "^[^\n]*", 40) .. "]", false
end

-- The prototype of a Lua function; nil for a C function, and the C function.
function value.prototype(vm, addr)
	local fn = vm.t:value("LClosure", addr)
	local is_c
	if vm.layout.array_of_calls then is_c = fn.isC ~= 0 else is_c = fn.tt & 0x30 ~= 0 end
	if not is_c then return fn.p end
	return nil, vm.t:ptr(addr + xcore.offsetof("CClosure", "f"))
end

local function c_function(at)
	return "C function " .. (xcore.symbol(at) or xcore.hex(at))
end

function value.describe_function(vm, addr)
	local pt, f = value.prototype(vm, addr)
	if not pt then return c_function(f) end
	local source = value.source(vm, pt):match "[^/]+$" or "?"
	return pt.linedefined == 0 and "main chunk of " .. source or ("function %s:%d"):format(source, pt.linedefined)
end

-- Describes an object by its address alone.
function value.describe(vm, addr, max)
	local kind = vm:kind(addr)
	if kind == layout.STRING then return value.quote(vm:string(addr, (max or 60) + 1), max or 60) end
	if kind == layout.FUNCTION then return value.describe_function(vm, addr) end
	if kind == vm.layout.proto then
		local pt = vm.t:value("Proto", addr)
		return ("prototype of %s:%d"):format(value.source(vm, pt), pt.linedefined)
	end
	return ("%s %s"):format(vm.layout.names[kind] or "object of type " .. kind, xcore.hex(addr))
end

local function number(vm, at, tt)
	local variant = tt >> 4 & 3
	local is_integer = vm.layout.alimit and variant == 0 or vm.layout.counted and variant == 1
	if is_integer then return vm.t:i64(at) end
	return vm.t:f64(at)
end

-- The contents of a value: its Lua type, and a number, boolean, or the address of an object (or pointer). `tt_at` is
-- the address of its tag if it differs from that in a TValue.
function value.decode(vm, at, tt_at)
	local tt = vm.t:u8(tt_at or at + vm.layout.tt)
	local kind = tt & 0xf
	if kind == 0 then return "nil" end
	if kind == 1 then
		if vm.layout.alimit then return "boolean", tt >> 4 & 3 == 1 end
		return "boolean", vm.t:u32(at) ~= 0
	end
	if kind == 3 then return "number", number(vm, at, tt) end
	local pointer = vm.t:ptr(at)
	if kind == 2 then return "lightuserdata", pointer end
	if layout.collectable(vm.layout, tt) then return vm.layout.names[kind] or "?", pointer, true end
	if kind == layout.FUNCTION then return "C function", pointer end
	return "dead", pointer
end

-- The value at an address as text.
function value.show(vm, at, max, tt_at)
	local name, payload, is_object = value.decode(vm, at, tt_at)
	if is_object then return value.describe(vm, payload, max) end
	if name == "nil" then return "nil" end
	if name == "number" or name == "boolean" then
		return math.type(payload) == "float" and ("%.14g"):format(payload) or tostring(payload)
	end
	if name == "C function" then return c_function(payload) end
	local symbol = xcore.symbol(payload)
	return ("%s %s%s"):format(name, xcore.hex(payload), symbol and " <" .. symbol .. ">" or "")
end

return value
