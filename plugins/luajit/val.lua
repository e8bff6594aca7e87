-- val: the commands val, tab, fn and proto: one value, one table, one function.
local xcore = require "xcore"
local damage = require "lib.damage"
local expression = require "luajit.expression"
local func = require "luajit.func"
local layout = require "luajit.layout"
local object = require "luajit.object"
local commands = require "luajit.commands"
local tab = require "luajit.tab"
local tvalue = require "luajit.tvalue"
local value = require "luajit.value"

local val = {}

local LIMIT, FEW, LONG = 100, 20, 4096
local SECRET = { secret = true }

local function wanted(parsed, usage)
	if not parsed[1] then error(xcore.error("usage", "which one?", usage)) end
	return parsed[1]
end

-- ---- by type ----

local DESCRIBE = {}

DESCRIBE[layout.STRING] = function(vm, section, addr)
	local str = vm.t:value("GCstr", addr)
	section:count("length", str.len)
	section:bytes("size", (object.size(vm, addr)))
	section:text("hash", xcore.hex(str.hash))
end

DESCRIBE[layout.TABLE] = function(vm, section, addr, limit)
	tab.describe(vm, section, addr)
	tab.fill(vm, section, addr, limit, 1)
end

DESCRIBE[layout.FUNCTION] = func.describe

DESCRIBE[layout.CDATA] = function(vm, section, addr)
	require("luajit.cdata").describe(vm, section, addr)
end

DESCRIBE[layout.USERDATA] = function(vm, section, addr)
	require("luajit.udata").describe(vm, section, addr)
end

DESCRIBE[layout.THREAD] = function(vm, section, addr)
	local thread = vm.t:value("lua_State", addr)
	section:text("status", require("luajit.coroutine").state(vm, thread))
	section:count("stack_slots", thread.stacksize, { label = "slots of its stack" })
	section:bytes("size", (object.size(vm, addr)))
	section:note("its stack: luajit.bt " .. xcore.hex(addr))
end

DESCRIBE[layout.PROTO] = func.proto_section

local function add_value(vm, section, bits, limit)
	local tag, payload = tvalue.decode(vm, bits)
	section:text("type", layout.NAMES[tag])
	section:text("value", value.show(vm, bits, LONG), SECRET)
	if tag == 3 then section:text("symbol", xcore.symbol(payload)) end
	if tag < layout.STRING or tag > layout.USERDATA then return end
	section:address("address", payload)
	local ok, why = pcall(DESCRIBE[tag] or type, vm, section, payload, limit)
	if not ok then section:warning("it can be read only partly: " .. damage.message(why), "luajit.check shows more") end
end

-- ---- commands ----

-- luajit.val ADDR|PATH
function val.val(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 1)
	local text = wanted(parsed, "luajit.val CORE 'package.loaded[\"app\"].users[3]'")
	local bits, at, notes = expression.eval(vm, text)
	local section = report:section("value", "Value")
	section:text("expression", text, { secret = true, quiet = true })
	add_value(vm, section, bits, parsed.limit or FEW)
	if at then section:address("lies_at", at, { label = "at address" }) end
	for _, note in ipairs(notes or {}) do section:note(note) end
	vm:tell(section)
end

-- A key after a table, in user syntax: 3, true, or text.
local function key_of(text)
	if text == "true" or text == "false" then return { boolean = text == "true" } end
	local number = tonumber(text)
	return number and { number = number } or { text = text }
end

local function under_key(vm, section, addr, key, limit)
	local one = require("luajit.tables").at(vm, addr)
	local bits, at = one:get(key_of(key))
	if not bits and tonumber(key) then bits, at = one:get { text = key } end
	if not bits then error(xcore.error("usage", ("the table has no key '%s'"):format(key))) end
	add_value(vm, section, bits, limit)
	section:address("lies_at", at, { label = "at address" })
end

-- luajit.tab ADDR|PATH [KEY]
function val.tab(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number", depth = "number" }, 2)
	local text = wanted(parsed, "luajit.tab CORE _G")
	local tag, addr = tvalue.decode(vm, (expression.eval(vm, text)))
	if tag ~= layout.TABLE then
		error(xcore.error("usage", ("%s is a %s, not a table"):format(text, layout.NAMES[tag]),
			"luajit.val shows values of all types"))
	end
	local section = report:section("table", "Table")
	if parsed[2] then
		under_key(vm, section, addr, parsed[2], parsed.limit or FEW)
	else
		section:address("address", addr)
		tab.describe(vm, section, addr)
		tab.fill(vm, section, addr, parsed.limit or LIMIT, parsed.depth or 1)
	end
	vm:tell(section)
end

local function add_closures(vm, section, list, limit)
	section:count("functions", #list)
	local rows = section:table("closures", {
		{ "address", "address" }, { "upvalues", "text", secret = true },
	})
	for i, addr in ipairs(list) do
		if i > limit then break end
		local texts = {}
		for k, one in ipairs(func.upvalues(vm, addr, 40)) do
			texts[k] = ("%s = %s"):format(one.name or "#" .. k, one.text)
		end
		rows:row(addr, table.concat(texts, ", "))
	end
	if #list > limit then section:note(("only %d of %d are shown"):format(limit, #list), "--limit N shows more") end
end

-- luajit.fn FILE:LINE|ADDR|PATH
function val.fn(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 1)
	local protos, functions = func.find(vm, wanted(parsed, "luajit.fn CORE app.lua:12"))
	local section = report:section("function", "Function")
	if functions then
		section:address("address", functions[1])
		func.describe(vm, section, functions[1])
	else
		section:text("place", func.place(vm, vm.t:value("GCproto", protos[1])))
		section:address("prototype", protos[1])
		add_closures(vm, section, func.closures(vm, protos), parsed.limit or FEW)
	end
	vm:tell(section)
end

-- luajit.proto FILE:LINE|ADDR|PATH
function val.proto(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 1)
	local protos = func.find(vm, wanted(parsed, "luajit.proto CORE app.lua:12"))
	if not protos then error(xcore.error("usage", parsed[1] .. " is a C function: it has no prototype")) end
	for i, addr in ipairs(protos) do
		if i > FEW then break end
		local section = report:section(
			i == 1 and "proto" or "proto_" .. i,
			"Prototype of " .. func.place(vm, vm.t:value("GCproto", addr))
		)
		func.proto_section(vm, section, addr, parsed.limit or LIMIT)
		section:count("closures", #func.closures(vm, { addr }), { label = "functions made of it" })
		vm:tell(section)
	end
end

return val
