-- references: every reference of a batch of objects, one by one, each with the type of its target: for luajit.check.
-- (luajit.graph has the same references in bulk, and cannot show which of them is wrong.)
local xcore = require "xcore"
local layout = require "luajit.layout"
local tvalue = require "luajit.tvalue"

local references = {}

local READ, MOST = 1 << 16, 1 << 28 -- slots read at once; of one object
local VALUE = { 0 }
local POINTER = (1 << 47) - 1

-- ---- arrays of values ----

-- Calls fn(holder, slot, tag, object) for values that are objects. `skip(bytes, offset)` selects elements without
-- objects.
local function each_value(vm, holder, first, count, stride, places, fn, skip)
	local unpack, gc64, at = string.unpack, vm.layout.gc64, 0
	if count > MOST then error(xcore.error("format", ("%s slots"):format(xcore.u64(count)))) end
	while at < count do
		local n = math.min(count - at, READ)
		local base = first + at * stride
		local bytes = vm.t:read(base, n * stride)
		for from = 0, (n - 1) * stride, stride do
			if not skip or not skip(bytes, from) then
				for i = 1, #places do
					local bits = unpack("<i8", bytes, from + places[i] + 1)
					local tag = gc64 and bits >> 47 or bits >> 32
					tag = gc64 and 0x1ffff - tag or 0xffffffff - tag
					if tag >= 4 and tag <= 12 then
						fn(holder, base + from + places[i], tag, gc64 and bits & POINTER or bits & 0xffffffff)
					end
				end
			end
		end
		at = at + n
	end
end

-- ---- by type ----

local EACH = {}
local TABLE, STRING, PROTO, UPVALUE, TRACE = layout.TABLE, layout.STRING, layout.PROTO, layout.UPVALUE, layout.TRACE

local function reference(fn, holder, name, tag, object, may_lack)
	if object ~= 0 then return fn(holder, name, tag, object) end
	if not may_lack then fn(holder, name, tag, 0) end
end

local function nodes_without_value(vm)
	local val, gc64 = xcore.offsetof("Node", "val"), vm.layout.gc64
	local at, format, unpack = val + (gc64 and 1 or 5), gc64 and "<i8" or "<i4", string.unpack
	return function(bytes, from) return unpack(format, bytes, from + at) == -1 end
end

EACH[TABLE] = {
	fields = function(L) return { "metatable." .. L.ref, "array." .. L.mref, "node." .. L.mref, "asize", "hmask" } end,
	one = function(vm, addr, get, fn)
		local L, hmask = vm.names, get "hmask"
		reference(fn, addr, "metatable", TABLE, get(L.metatable), true)
		each_value(vm, addr, get(L.array), get "asize", 8, VALUE, fn)
		if hmask & (hmask + 1) ~= 0 then fn(addr, ("%d slots"):format(hmask + 1), nil, 0) end
		if hmask > 0 then
			each_value(vm, addr, get(L.node), hmask + 1, L.stride, L.places, fn, L.no_value)
		end
	end,
}

EACH[layout.FUNCTION] = {
	fields = function(L) return { "env." .. L.ref, "pc." .. L.mref, "ffid", "nupvalues" } end,
	one = function(vm, addr, get, fn)
		local L = vm.names
		reference(fn, addr, "environment", TABLE, get(L.env))
		if get "ffid" ~= 0 then
			return each_value(vm, addr, addr + xcore.offsetof("GCfuncC", "upvalue"), get "nupvalues", 8, VALUE, fn)
		end
		reference(fn, addr, "prototype", PROTO, get(L.pc) - L.proto)
		local first, width = addr + L.upvalues, L.ref_size
		local bytes, format = vm.t:read(first, get "nupvalues" * width), width == 8 and "<i8" or "<I4"
		for i = 0, get "nupvalues" - 1 do
			reference(fn, addr, first + i * width, UPVALUE, (string.unpack(format, bytes, i * width + 1)))
		end
	end,
}

EACH[UPVALUE] = {
	fields = function(L) return { "v." .. L.mref, "closed" } end,
	one = function(vm, addr, get, fn)
		local at = get(vm.names.v)
		if get "closed" ~= 0 and at ~= addr + vm.names.own_value then return fn(addr, "value", nil, at) end
		each_value(vm, addr, at, 1, 8, VALUE, fn)
	end,
}

EACH[PROTO] = {
	fields = function(L) return { "chunkname." .. L.ref, "k." .. L.mref, "sizekgc" } end,
	one = function(vm, addr, get, fn)
		local L, count = vm.layout, get "sizekgc"
		reference(fn, addr, "chunk name", STRING, get("chunkname." .. L.ref))
		if count > 1 << 20 then return fn(addr, ("%d constants"):format(count), nil, 0) end
		local first, format = get("k." .. L.mref) - count * L.ref_size, L.ref_size == 8 and "<i8" or "<I4"
		local bytes = vm.t:read(first, count * L.ref_size)
		for i = 0, count - 1 do
			local object = string.unpack(format, bytes, i * L.ref_size + 1)
			if object ~= 0 then fn(addr, first + i * L.ref_size, false, object) end
		end
	end,
}

EACH[layout.THREAD] = {
	fields = function(L) 	return { "env." .. L.ref, "stack." .. L.mref, "maxstack." .. L.mref, "top", "base", "stacksize" }
end,
	one = function(vm, addr, get, fn)
		local L = vm.layout
		local stack, top, base, size = get("stack." .. L.mref), get "top", get "base", get "stacksize"
		reference(fn, addr, "environment", TABLE, get("env." .. L.ref))
	if base < stack or top < base or (top - stack) // 8 > size then return fn(addr, "top of its stack", nil, top) end
		each_value(vm, addr, stack + 8 * (1 + L.fr2), math.max((top - stack) // 8 - 1 - L.fr2, 0), 8, VALUE, fn)
	end,
}

EACH[layout.USERDATA] = {
	fields = function(L) return { "metatable." .. L.ref, "env." .. L.ref } end,
	one = function(vm, addr, get, fn)
		reference(fn, addr, "metatable", TABLE, get("metatable." .. vm.layout.ref), true)
		reference(fn, addr, "environment", TABLE, get("env." .. vm.layout.ref), true)
	end,
}

EACH[TRACE] = {
	fields = function(L) return { "startpt." .. L.ref, "link", "nextroot", "nextside", "traceno" } end,
	one = function(vm, addr, get, fn)
		local graph = require "luajit.graph"
		if get "traceno" == 0 then return end
		reference(fn, addr, "prototype", PROTO, get("startpt." .. vm.layout.ref))
		for _, name in ipairs { "link", "nextroot", "nextside" } do
			local number = get(name)
			if number ~= 0 then fn(addr, name, TRACE, graph.trace(vm, number)) end
		end
	graph.trace_constants(
		vm,
		vm.t:value("GCtrace", addr),
		function(object, index) fn(addr, "constant " .. index, false, object) end
	)
	end,
}

-- Names and offsets that are needed for each of millions.
local function names_of(vm)
	local L = vm.layout
	return {
		metatable = "metatable." .. L.ref, array = "array." .. L.mref, node = "node." .. L.mref, env = "env." .. L.ref, pc = "pc." .. L.mref,
		v = "v." .. L.mref, stride = xcore.sizeof "Node", places = { xcore.offsetof("Node", "val"), xcore.offsetof("Node", "key") },
		no_value = nodes_without_value(vm), proto = xcore.sizeof "GCproto", upvalues = xcore.offsetof("GCfuncL", "uvptr"),
		own_value = xcore.offsetof("GCupval", "tv"), ref_size = L.ref_size,
	}
end

function references.fields(vm)
	local wanted = {}
	vm.names = names_of(vm)
	for gct = STRING, layout.USERDATA do
		local fields = EACH[gct] and EACH[gct].fields(vm.layout) or {}
		fields[#fields + 1] = "marked"
		wanted[gct] = fields
	end
	wanted[STRING][2], wanted[STRING][3] = "hash", "nextgc." .. vm.layout.ref
	return wanted
end

-- Calls fn(holder, slot, tag, object) for every reference of the objects: slot is its address or its name; tag is the
-- required type of the target, false for any, nil if the slot itself is wrong. failed(holder, why) is called for
-- unreadable objects.
function references.each(vm, gct, addresses, columns, fn, failed)
	local kind = EACH[gct]
	if not kind then return end
	local row
	local function get(name) return columns[name][row] end
	for i, addr in ipairs(addresses) do
		row = i
		local ok, err = pcall(kind.one, vm, addr, get, fn)
		if not ok then
			failed(addr, tostring(type(err) == "table" and err.message or err))
		end
	end
end

return references
