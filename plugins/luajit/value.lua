-- Values in human-readable form.
local xcore = require "xcore"
local layout = require "luajit.layout"
local proto = require "luajit.proto"
local tvalue = require "luajit.tvalue"

local value = {}

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\" }

function value.quote(text, max)
	local cut = max and #text > max
	text = (cut and text:sub(1, max) or text):gsub(
		'[%c"\\]',
		function(c) return ESCAPES[c] or ("\\%d"):format(c:byte()) end
	)
	return '"' .. text .. '"' .. (cut and "..." or "")
end

-- LuaJIT rounds exact ties away from zero, where C rounds to even: then the next number has the text.
local function away(number)
	local digits = ("%.60e"):format(number):gsub("[%.-]", ""):match "^(%d+)e"
	if not digits or not digits:sub(15):find "^50*$" then return number end
	return (string.unpack("<d", string.pack("<i8", string.unpack("<i8", string.pack("<d", number)) + 1)))
end

-- As LuaJIT's tostring.
function value.number(number)
	if math.type(number) == "integer" then return tostring(number) end
	if number ~= number then return "nan" end
	if number % 1 ~= 0 or number >= 1e14 or number <= -1e14 then number = away(number) end
	return (("%.14g"):format(number))
end

-- "function at file.lua:12", "builtin string.gsub", "C function lj_cf_…".
function value.function_name(vm, addr)
	local fn = vm.t:value("GCfuncL", addr)
	if fn.ffid == 0 then
		local pt = vm:proto_of(fn)
		return ("function at %s:%d"):format((proto.source(vm, pt)), pt.firstline)
	end
	if fn.ffid > 1 then return "builtin " .. vm:builtin(fn.ffid) end
	return "C function " .. (xcore.symbol(vm.t:value("GCfuncC", addr).f) or xcore.hex(addr))
end

local function show_table(vm, addr)
	local tab = vm.t:value("GCtab", addr)
	local hash = tab.hmask > 0 and tab.hmask + 1 or 0
	return ("table %s (array %d, hash %d)"):format(xcore.hex(addr), tab.asize, hash)
end

local SHOW = {
	[layout.STRING] = function(vm, addr, max) return value.quote(vm:string(addr, (max or 60) + 1), max or 60) end,
	[layout.FUNCTION] = function(vm, addr) return value.function_name(vm, addr) end,
	[layout.TABLE] = show_table,
	[layout.THREAD] = function(_, addr) return "coroutine " .. xcore.hex(addr) end,
	[layout.CDATA] = function(vm, addr) return require("luajit.ctype").show(vm, addr) end,
}

-- The text of a value, given as its 64 bits. An unreadable value gives a text that says so.
function value.show(vm, bits, max)
	local tag, payload = tvalue.decode(vm, bits)
	if tag == 0 or tag == 1 or tag == 2 then return layout.NAMES[tag] end
	if tag == 13 then return value.number(payload) end
	local name = layout.NAMES[tag] or ("value of unknown tag " .. tag)
	if tag == 3 then return name .. " " .. xcore.hex(payload) end
	if not SHOW[tag] then return name .. " " .. xcore.hex(payload) end
	local ok, text = pcall(SHOW[tag], vm, payload, max)
	if ok then return text end
	return ("%s %s (%s)"):format(name, xcore.hex(payload), text.message or text)
end

-- The value at an address.
function value.at(vm, addr, max)
	return value.show(vm, vm.t:u64(addr), max)
end

return value
