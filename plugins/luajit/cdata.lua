-- cdata: FFI objects by C type, and their finalizers.
local xcore = require "xcore"
local damage = require "lib.damage"
local ctype = require "luajit.ctype"
local layout = require "luajit.layout"
local object = require "luajit.object"
local commands = require "luajit.commands"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"
local value = require "luajit.value"

local cdata = {}

local SHOWN, FIELDS = 30, 64
local VARIABLE, HAS_FINALIZER = 0x80, 0x10 -- of `marked`

-- ---- by type ----

local function bigger(a, b)
	if a.bytes ~= b.bytes then return a.bytes > b.bytes end
	return a.id < b.id
end

-- Number, bytes, and the number with a finalizer, by id.
function cdata.by_type(vm)
	local by_id = {}
	object.each(vm, nil, function(gct, addresses, columns)
		local of = object.sizer(vm, gct).of
		for i, addr in ipairs(addresses) do
			local id, size = columns.ctypeid[i], of(columns, i, addr)
			local one = by_id[id]
			if not one then
				one = { id = id, count = 0, bytes = 0, max = 0, finalized = 0, example = addr }
				by_id[id] = one
			end
			one.count, one.bytes = one.count + 1, one.bytes + size
			if size > one.max then one.max = size end
			if columns.marked[i] & HAS_FINALIZER ~= 0 then one.finalized = one.finalized + 1 end
		end
	end, layout.CDATA)
	local list = {}
	for _, one in pairs(by_id) do list[#list + 1] = one end
	table.sort(list, bigger)
	return list
end

-- The table of finalizers: of the FFI's state, since 2024 of the VM's roots; nil if there is none.
local function finalizers(vm)
	if xcore.has(vm.ctypes, "finalizer") then
		return vm.ctypes.finalizer and tables.at(vm, xcore.addr(vm.ctypes.finalizer)) or nil
	end
	for index, name in pairs(vm:enum("GCROOT_MAX", "GCROOT_")) do
		local addr = name == "FFI_FIN" and vm.g.gcroot[index][vm.layout.ref] or 0
		if addr ~= 0 then return tables.at(vm, addr) end
	end
end

-- The number of cdata per finalizer, the largest first: { count, bits, example }.
function cdata.finalizers(vm)
	local from, by_bits, list = finalizers(vm), {}, {}
	if not from then return list end
	from:each(function(key, bits)
		local tag, addr = tvalue.decode(vm, key)
		if tag ~= layout.CDATA then return end
		local one = by_bits[bits]
		if not one then
			one = { bits = bits, count = 0, example = addr, ids = {} }
			by_bits[bits], list[#list + 1] = one, one
		end
		one.count = one.count + 1
		local id = vm.t:value("GCcdata", addr).ctypeid
		one.ids[id] = (one.ids[id] or 0) + 1
	end)
	table.sort(list, function(a, b)
		if a.count ~= b.count then return a.count > b.count end
		return a.example < b.example
	end)
	return list
end

-- Merges types with the same spelling: each C function in use has its own type.
local function by_spelling(types, list)
	local merged, by_title = {}, {}
	for _, one in ipairs(list) do
		local title = types:title(one.id)
		local same = by_title[title]
		if same then
			same.count, same.bytes, same.finalized =
				same.count + one.count, same.bytes + one.bytes, same.finalized + one.finalized
			same.max = math.max(same.max, one.max)
		else
			by_title[title], merged[#merged + 1] = one, one
		end
	end
	table.sort(merged, bigger)
	return merged
end

local function add_types(vm, section, limit)
	local types = ctype.of(vm)
	local list = by_spelling(types, cdata.by_type(vm))
	local count, bytes = 0, 0
	for _, one in ipairs(list) do count, bytes = count + one.count, bytes + one.bytes end
	section:count("objects", count)
	section:bytes("size", bytes)
	local rows = section:table("types", {
		{ "ctype", "text", label = "C TYPE" }, { "name", "text", label = "TYPEDEF" }, { "count", "count" }, { "max", "bytes" }, { "sum", "bytes" },
		{ "finalized", "count", label = "WITH FINALIZER" }, { "id", "integer", verbose = true }, { "example", "address" },
	})
	for i, one in ipairs(list) do
		if i > limit then break end
		rows:row(
			types:spell(one.id),
			types:typedef(one.id),
			one.count,
			one.max,
			one.bytes,
			one.finalized,
			one.id,
			one.example
		)
	end
	if #list > limit then
		section:note(("only %d of %d types are shown"):format(limit, #list), "--limit N shows more")
	end
end

local function add_finalizers(vm, section, limit)
	local ok, list = pcall(cdata.finalizers, vm)
	if not ok then
		return section:warning("finalizers cannot be read: " .. damage.message(list))
	end
	if #list == 0 then return end
	local rows = section:table("finalizers", {
		{ "finalizer", "text" }, { "count", "count" }, { "types", "text", label = "C TYPES" }, { "example", "address" },
	})
	for i, one in ipairs(list) do
		if i > limit then break end
		local names, types = {}, ctype.of(vm)
		for id in pairs(one.ids) do names[#names + 1] = types:title(id) end
		table.sort(names)
		local text = table.concat(names, ", ", 1, math.min(#names, 3))
			.. (#names > 3 and (" and %d more"):format(#names - 3) or "")
		rows:row(value.show(vm, one.bits), one.count, text, one.example)
	end
end

-- luajit.cdata [--limit N]
function cdata.run(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 0)
	local section = report:section("cdata", "LuaJIT: cdata")
	if not vm.ctypes then return section:note "the FFI is not loaded: there is no cdata" end
	add_types(vm, section, parsed.limit or SHOWN)
	add_finalizers(vm, section, parsed.limit or SHOWN)
	vm:tell(section)
end

-- ---- one ----

local function bit_field(vm, at, bits)
	local size = bits.container
	local read = ({ [1] = vm.t.u8, [2] = vm.t.u16, [4] = vm.t.u32, [8] = vm.t.u64 })[size]
	if not read or bits.count == 0 or bits.count > 64 then return nil end
	local number = read(vm.t, at) >> bits.position
	if bits.count < 64 then number = number & (1 << bits.count) - 1 end
	if not bits.unsigned and bits.count < 64 and number >> bits.count - 1 == 1 then
		number = number - (1 << bits.count)
	end
	return tostring(number)
end

local function text_of(types, vm, id, at)
	local one = types:raw(id)
	local shown = types:scalar(id, at)
	if shown or not one or one.kind ~= ctype.ARRAY or one.size == 0xffffffff then return shown end
	local element = types:raw(one.child)
	if not element or element.size ~= 1 then return nil end
	return value.quote(vm.t:cstring(at, math.min(one.size, 80)), 80)
end

local function add_fields(vm, section, types, id, at)
	local rows, count = nil, 0
	types:fields(id, function(name, field, offset, bits)
		count = count + 1
		if count > FIELDS then return end
		rows = rows or section:table("fields", {
			{ "field", "text" }, { "ctype", "text", label = "C TYPE" }, { "offset", "integer" }, { "value", "text", secret = true },
		})
		local ok, text = pcall(
			function()
				return bits and bit_field(vm, at + offset, bits) or field and text_of(types, vm, field, at + offset)
			end
		)
		rows:row(name, field and types:title(field) or ("%d bits"):format(bits.count), offset, ok and text or nil)
	end)
	if count > FIELDS then section:note(("%d more fields"):format(count - FIELDS)) end
end

local function finalizer_of(vm, addr)
	local from = finalizers(vm)
	local bits = from and from:get { object = addr }
	return bits and value.show(vm, bits)
end

function cdata.describe(vm, section, addr)
	local types = ctype.of(vm)
	if not types then return end
	local object_of = vm.t:value("GCcdata", addr)
	local id, at = object_of.ctypeid, addr + xcore.sizeof "GCcdata"
	section:text("ctype", types:spell(id), { label = "C type" })
	section:text("typedef", types:typedef(id))
	section:bytes("size", (object.size(vm, addr)))
	section:address("data", at)
	section:bool("variable", object_of.marked & VARIABLE ~= 0, { label = "of variable length" })
	if object_of.marked & HAS_FINALIZER ~= 0 then section:text("finalizer", finalizer_of(vm, addr)) end
	local one = types:raw(id)
	if one and one.kind == ctype.PTR then
		at = vm.t:ptr(at)
		id = one.child
	end
	if at ~= 0 then add_fields(vm, section, types, id, at) end
end

return cdata
