-- func: functions and prototypes: their position and contents.
local xcore = require "xcore"
local bytecode = require "luajit.bytecode"
local expression = require "luajit.expression"
local layout = require "luajit.layout"
local object = require "luajit.object"
local proto = require "luajit.proto"
local value = require "luajit.value"

local func = {}

-- lj_obj.h, PROTO_*: macros.
local FLAGS = {
	{ 0x01, "defines functions" }, { 0x02, "takes varargs" }, { 0x04, "uses FFI data" }, { 0x08, "never compiled" },
	{ 0x10, "loops not compiled" }, { 0x20, "returns" }, { 0x40, "return was fixed up" },
}
local UV_LOCAL, UV_CONSTANT = 0x8000, 0x4000

-- ---- by file and line ----

local function ends_with(source, file)
	return source == file or source:sub(-#file - 1) == "/" .. file
end

-- Prototypes of the VM, as columns, and their addresses.
local function all_protos(vm)
	local chunk, addresses, columns = "chunkname." .. vm.layout.ref, {}, { firstline = {}, numline = {}, chunk = {} }
	object.each(vm, { [layout.PROTO] = { "firstline", "numline", chunk } }, function(_, batch, found)
		for i, addr in ipairs(batch) do
			local n = #addresses + 1
			addresses[n], columns.firstline[n], columns.numline[n], columns.chunk[n] =
				addr, found.firstline[i], found.numline[i], found[chunk][i]
		end
	end, layout.PROTO)
	return addresses, columns
end

-- Prototypes at a line: those that begin there, else the smallest that contain it.
function func.protos_at(vm, file, line)
	local addresses, columns = all_protos(vm)
	local sources, exact, around, least = {}, {}, {}, math.huge
	for i, addr in ipairs(addresses) do
		local chunk = columns.chunk[i]
		if sources[chunk] == nil then
			sources[chunk] = ends_with((proto.source(vm, vm.t:value("GCproto", addr))), file)
		end
		local first, count = columns.firstline[i], columns.numline[i]
		if sources[chunk] and first == line then
			exact[#exact + 1] = addr
		elseif sources[chunk] and first <= line and line <= first + count and count <= least then
			if count < least then around, least = {}, count end
			around[#around + 1] = addr
		end
	end
	local found = #exact > 0 and exact or around
	if #found == 0 then
		error(xcore.error("usage", ("no function is defined at %s:%d"):format(file, line),
			"the file name as in luajit.bt, or its end"))
	end
	return found
end

-- Functions made of prototypes.
function func.closures(vm, protos)
	local wanted, list, pc = {}, {}, "pc." .. vm.layout.mref
	for _, addr in ipairs(protos) do wanted[addr + xcore.sizeof "GCproto"] = true end
	object.each(vm, { [layout.FUNCTION] = { pc } }, function(_, addresses, columns)
		for i, addr in ipairs(addresses) do
			if columns.ffid[i] == 0 and wanted[columns[pc][i]] then list[#list + 1] = addr end
		end
	end, layout.FUNCTION)
	table.sort(list)
	return list
end

-- The prototypes and functions that the user named: FILE:LINE, else an expression. Either may be nil.
function func.find(vm, text)
	local file, line = text:match "^(.-):(%d+)$"
	if file and #file > 0 and not file:find "^0x" then
		return func.protos_at(vm, file, math.tointeger(tonumber(line)))
	end
	local bits = expression.eval(vm, text)
	local tag, addr = require("luajit.tvalue").decode(vm, bits)
	if tag == layout.PROTO then return { addr } end
	if tag ~= layout.FUNCTION then
		error(xcore.error("usage", ("%s is a %s, not a function"):format(text, layout.NAMES[tag]),
			"FILE:LINE, an address or a path to a function"))
	end
	local fn = vm.t:value("GCfuncL", addr)
	return fn.ffid == 0 and { xcore.addr(vm:proto_of(fn)) } or nil, { addr }
end

-- ---- prototypes ----

local function flags_of(pt)
	local list = {}
	for _, flag in ipairs(FLAGS) do
		if pt.flags & flag[1] ~= 0 then list[#list + 1] = flag[2] end
	end
	return table.concat(list, ", ")
end

local function place(vm, pt)
	return ("%s:%d"):format((proto.source(vm, pt)), pt.firstline)
end

func.place = place

local function add_upvalues(vm, section, pt)
	if pt.sizeuv == 0 then return end
	local rows = section:table(
		"upvalues",
		{ { "index", "integer", label = "#" }, { "name", "text", secret = true }, { "from", "text" } }
	)
	local names, at = proto.upvalues(vm, pt), pt.uv[vm.layout.mref]
	for i = 1, pt.sizeuv do
		local how = vm.t:u16(at + 2 * (i - 1))
		local from = how & UV_LOCAL ~= 0 and ("slot %d of the function around it"):format(how & 0xff)
			or ("its upvalue #%d"):format((how & 0xff) + 1)
		rows:row(i, names[i], from .. (how & UV_CONSTANT ~= 0 and ", never assigned" or ""))
	end
end

local function constant_text(vm, addr)
	local gct = vm.t:u8(addr + xcore.offsetof("GChead", "gct"))
	if gct == layout.PROTO then return layout.NAMES[gct], "function at " .. place(vm, vm.t:value("GCproto", addr)) end
	return layout.NAMES[gct] or "?", value.show(vm, require("luajit.tvalue").of_object(vm, addr), 80)
end

local function add_constants(vm, section, pt, limit)
	local code, shown = bytecode.of(vm, pt), 0
	if pt.sizekgc + pt.sizekn == 0 then return end
	local rows = section:table(
		"constants",
		{ { "index", "integer", label = "#" }, { "type", "text" }, { "value", "text", secret = true } }
	)
	for i = 0, math.min(pt.sizekgc, limit) - 1 do
		local ok, kind, text = pcall(constant_text, vm, code:object(i))
		rows:row(i, ok and kind or nil, ok and text or "cannot be read")
		shown = shown + 1
	end
	for i = 0, math.min(pt.sizekn, limit - shown) - 1 do
		rows:row(i, "number", value.show(vm, code:number(i)))
		shown = shown + 1
	end
	if shown < pt.sizekgc + pt.sizekn then
		section:note(("only %d constants are shown"):format(shown), "--limit N shows more")
	end
end

-- All details of one prototype.
function func.proto_section(vm, section, addr, limit)
	local pt = vm.t:value("GCproto", addr)
	if pt.gct ~= layout.PROTO then error(xcore.error("usage", xcore.hex(addr) .. " is not a prototype")) end
	section:address("address", addr)
	section:text("source", (proto.source(vm, pt)), { secret = pt.firstline == 0 })
	section:integer("first_line", pt.firstline, { label = "first line" })
	section:integer("last_line", pt.firstline + pt.numline, { label = "last line" })
	section:bytes("size", pt.sizept)
	section:count("parameters", pt.numparams)
	section:count("frame_slots", pt.framesize, { label = "slots of a frame" })
	section:count("instructions", pt.sizebc)
	section:count("upvalue_count", pt.sizeuv, { label = "upvalues" })
	section:count("object_constants", pt.sizekgc, { label = "constants: objects" })
	section:count("number_constants", pt.sizekn, { label = "constants: numbers" })
	section:bool("debug_information", pt.lineinfo[vm.layout.mref] ~= 0, { label = "has lines and names" })
	section:text("flags", flags_of(pt))
	if pt.trace ~= 0 then section:integer("trace", pt.trace, { label = "first root trace" }) end
	add_upvalues(vm, section, pt)
	add_constants(vm, section, pt, limit)
end

-- ---- functions ----

-- Name and value (or the reason) of each upvalue of a function.
function func.upvalues(vm, addr, max)
	local fn, list = vm.t:value("GCfuncL", addr), {}
	local in_lua = fn.ffid == 0
	local names = in_lua and proto.upvalues(vm, vm:proto_of(fn)) or {}
	for i = 1, fn.nupvalues do
		local ok, text, at = pcall(function()
			local at = in_lua and expression.upvalue(vm, fn, i)
				or addr + xcore.offsetof("GCfuncC", "upvalue") + 8 * (i - 1)
			return value.at(vm, at, max), at
		end)
		list[i] = { name = names[i], text = ok and text or "cannot be read", at = ok and at or nil }
	end
	return list
end

function func.describe(vm, section, addr)
	local fn = vm.t:value("GCfuncL", addr)
	section:text("function", value.function_name(vm, addr))
	section:bytes("size", (object.size(vm, addr)))
	if fn.ffid == 0 then
		local pt = vm:proto_of(fn)
		section:address("prototype", pt)
		section:integer("first_line", pt.firstline, { label = "first line" })
		section:integer("last_line", pt.firstline + pt.numline, { label = "last line" })
	else
		section:text("code", xcore.symbol(vm.t:value("GCfuncC", addr).f))
	end
	local environment = fn.env[vm.layout.ref]
	if environment ~= 0 and environment ~= vm.main.env[vm.layout.ref] then
		section:address("environment", environment)
	end
	local upvalues = func.upvalues(vm, addr, 80)
	if #upvalues == 0 then return end
	local rows = section:table("upvalues", {
		{ "index", "integer", label = "#" }, { "name", "text", secret = true }, { "value", "text", secret = true }, { "at", "address", verbose = true },
	})
	for i, one in ipairs(upvalues) do rows:row(i, one.name, one.text, one.at) end
end

return func
