-- udata: userdata by type and metatable.
local xcore = require "xcore"
local layout = require "luajit.layout"
local metatables = require "luajit.metatables"
local object = require "luajit.object"
local commands = require "luajit.commands"
local tables = require "luajit.tables"
local value = require "luajit.value"

local udata = {}

local SHOWN = 30
local KINDS = { [0] = "userdata", "file", "C library", "string buffer" } -- UDTYPE_* (lj_obj.h), as a fallback
local NAMES = { USERDATA = "userdata", IO_FILE = "file", FFI_CLIB = "C library", BUFFER = "string buffer" }

local function type_name(vm, udtype)
	local name = vm:enum("UDTYPE_USERDATA", "UDTYPE_")[udtype]
	return name and (NAMES[name] or name:lower()) or KINDS[udtype] or "type " .. udtype
end

-- Count and bytes by type and metatable, most bytes first.
function udata.groups(vm)
	local metatable, groups, list = "metatable." .. vm.layout.ref, {}, {}
	object.each(vm, { [layout.USERDATA] = { "udtype", metatable } }, function(gct, addresses, columns)
		local of = object.sizer(vm, gct).of
		for i, addr in ipairs(addresses) do
			local key = columns[metatable][i] << 8 | columns.udtype[i]
			local one = groups[key]
			if not one then
				one = {
					udtype = columns.udtype[i],
					metatable = columns[metatable][i],
					count = 0,
					bytes = 0,
					payload = 0,
					example = addr,
				}
				groups[key], list[#list + 1] = one, one
			end
			one.count, one.bytes, one.payload =
				one.count + 1, one.bytes + of(columns, i, addr), one.payload + columns.len[i]
		end
	end, layout.USERDATA)
	table.sort(list, function(a, b)
		if a.bytes ~= b.bytes then return a.bytes > b.bytes end
		return a.example < b.example
	end)
	return list
end

-- The __gc of a metatable, as a text; nil if it has none.
local function collector(vm, addr)
	local ok, text = pcall(function()
		local bits = tables.at(vm, addr):get { text = "__gc" }
		return bits and value.show(vm, bits)
	end)
	return ok and text or nil
end

-- luajit.udata [--limit N]
function udata.run(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 0)
	local limit, section = parsed.limit or SHOWN, report:section("udata", "LuaJIT: userdata")
	local list, count, bytes = udata.groups(vm), 0, 0
	for _, one in ipairs(list) do count, bytes = count + one.count, bytes + one.bytes end
	section:count("objects", count)
	section:bytes("size", bytes)
	local rows = section:table("types", {
		{ "type", "text" }, { "count", "count" }, { "payload", "bytes" }, { "sum", "bytes" }, { "example", "address", verbose = true },
		{ "finalizer", "text", label = "__GC" }, { "metatable", "text" },
	})
	for i, one in ipairs(list) do
		if i > limit then break end
		local has = one.metatable ~= 0
		rows:row(type_name(vm, one.udtype), one.count, one.payload, one.bytes, one.example, has and collector(vm, one.metatable) or nil,
			has and metatables.name(vm, one.metatable) or nil)
	end
	if #list > limit then
		section:note(("only %d of %d kinds are shown"):format(limit, #list), "--limit N shows more")
	end
	vm:tell(section)
end

function udata.describe(vm, section, addr)
	local one = vm.t:value("GCudata", addr)
	local metatable = one.metatable[vm.layout.ref]
	section:text("udtype", type_name(vm, one.udtype), { label = "kind" })
	section:text("metatable", metatable ~= 0 and metatables.name(vm, metatable) or "none")
	if metatable ~= 0 then section:text("finalizer", collector(vm, metatable)) end
	section:bytes("payload", one.len)
	section:bytes("size", (object.size(vm, addr)))
	section:address("data", addr + xcore.sizeof "GCudata")
end

return udata
