-- label: the name of a reference between two objects: ".name", "[17]", "upvalue x", "metatable". It is found by a
-- search for the reference in the object, so only for objects that are shown.
local xcore = require "xcore"
local coroutines = require "luajit.coroutine"
local graph = require "luajit.graph"
local layout = require "luajit.layout"
local proto = require "luajit.proto"
local retention = require "lib.retention"
local tvalue = require "luajit.tvalue"
local value = require "luajit.value"

local label = {}

-- The 64 bits of a value that refers to an object.
local function encode(vm, addr)
	local gct = vm.t:u8(addr + xcore.offsetof("GChead", "gct"))
	return ~gct << tvalue.scan(vm).tag.shift | addr
end

-- Addresses of values in a range that refer to an object.
local function occurrences(vm, lo, count, stride, bits)
	local last = lo + count * stride - 1
	if count <= 0 or lo == 0 then return function() end end
	return vm.t:find { bytes = string.pack("<i8", bits), within = { { lo, last } }, align = 8 }
end

-- ---- keys ----

local function light(vm, addr)
	local name = xcore.symbol(addr)
	return name and "[&" .. name .. "]" or ("[lightuserdata %s]"):format(xcore.hex(addr))
end

-- ".name" if Lua syntax allows it.
function label.key(vm, bits, max)
	local tag, payload = tvalue.decode(vm, bits)
	if tag == layout.STRING then
		local ok, text = pcall(vm.string, vm, payload, (max or 40) + 1)
		if not ok then return ("[string %s]"):format(xcore.hex(payload)) end
		if text:find "^[%a_][%w_]*$" and #text <= (max or 40) then return "." .. text end
		return "[" .. value.quote(text, max or 40) .. "]"
	end
	if tag == 3 then return light(vm, payload) end
	return "[" .. value.show(vm, bits, max or 40) .. "]"
end

-- ---- by type of the object that refers ----

local OF = {}

local function in_array(vm, tab, bits)
	local array = tab.array[vm.layout.mref]
	for at in occurrences(vm, array, tab.asize, 8, bits) do return ("[%d]"):format((at - array) // 8) end
end

-- In the hash part: as a value, else as a key.
local function in_hash(vm, tab, bits)
	local node, stride = tab.node[vm.layout.mref], xcore.sizeof "Node"
	local val, key = xcore.offsetof("Node", "val"), xcore.offsetof("Node", "key")
	local as_key
	for at in occurrences(vm, node, tab.hmask > 0 and tab.hmask + 1 or 0, stride, bits) do
		local first = at - (at - node) % stride
		if at - first == val then return label.key(vm, vm.t:u64(first + key)) end
		if at - first == key and vm.t:i64(first + val) ~= -1 then as_key = "key" end
	end
	return as_key
end

OF[layout.TABLE] = function(vm, parent, child)
	local tab, bits = vm.t:value("GCtab", parent), encode(vm, child)
	local found = in_array(vm, tab, bits) or in_hash(vm, tab, bits)
	if found == "key" and tab.metatable[vm.layout.ref] == child then return "metatable" end
	return found or (tab.metatable[vm.layout.ref] == child and "metatable") or nil
end

local function lua_upvalue(vm, fn, child)
	local start, width = xcore.addr(fn) + xcore.offsetof("GCfuncL", "uvptr"), vm.layout.ref_size
	for i = 0, fn.nupvalues - 1 do
		if (width == 8 and vm.t:u64(start + i * 8) or vm.t:u32(start + i * 4)) == child then
			local name = proto.upvalues(vm, vm:proto_of(fn))[i + 1]
			return "upvalue " .. (name and name ~= "" and name or i + 1)
		end
	end
end

OF[layout.FUNCTION] = function(vm, parent, child)
	local fn = vm.t:value("GCfuncL", parent)
	if fn.ffid == 0 then
		local upvalue = lua_upvalue(vm, fn, child)
		if upvalue then return upvalue end
		if xcore.addr(vm:proto_of(fn)) == child then return "prototype" end
	else
		local start = parent + xcore.offsetof("GCfuncC", "upvalue")
		for at in occurrences(vm, start, fn.nupvalues, 8, encode(vm, child)) do
			return "upvalue " .. (at - start) // 8 + 1
		end
	end
	if fn.env[vm.layout.ref] == child then return "environment" end
end

-- The function's name for it was already given.
OF[layout.UPVALUE] = function() return "" end

OF[layout.PROTO] = function(vm, parent, child)
	local pt = vm.t:value("GCproto", parent)
	if pt.chunkname[vm.layout.ref] == child then return "chunk name" end
	local gct = vm.t:value("GChead", child).gct
	if gct == layout.TRACE then return "trace" end
	if gct == layout.PROTO then
		return ("function defined at line %d"):format(vm.t:value("GCproto", child).firstline)
	end
	return "constant"
end

-- "file.lua:12", "main chunk of file.lua", the name of a builtin.
local function place(vm, func)
	local fn = vm.t:value("GCfuncL", func)
	if fn.ffid ~= 0 then return value.function_name(vm, func) end
	local pt = vm:proto_of(fn)
	local source, is_file = proto.source(vm, pt)
	local name = is_file and source:match "[^/]+$" or source
	return pt.firstline == 0 and "main chunk of " .. name or name .. ":" .. pt.firstline
end

-- The frames of a thread; the saved state of the running one may be wrong (machine.lua).
local function frames_of(vm, thread)
	local addr = xcore.addr(thread)
	vm.label_frames = vm.label_frames or {}
	local list = vm.label_frames[addr] or coroutines.frames(vm, thread)
	if not vm.t.live then vm.label_frames[addr] = list end
	return list
end

-- The frame whose part of the stack contains an address, and its local there.
local function local_name(vm, thread, at)
	for _, one in ipairs(frames_of(vm, thread)) do
		if one.at < at then
			local name = place(vm, one.func)
			local slot = (at - one.at) // 8 - 1
			for _, var in ipairs(one.pt and one.pos and proto.locals(vm, one.pt, one.pos) or {}) do
				if var.slot == slot then return ("%s: local %s"):format(name, var.name) end
			end
			return ("%s: slot %d"):format(name, slot)
		end
		if one.at - 8 * vm.layout.fr2 <= at then return "running function" end
	end
end

OF[layout.THREAD] = function(vm, parent, child)
	local thread = vm.t:value("lua_State", parent)
	if thread.env[vm.layout.ref] == child then return "environment" end
	local stack = thread.stack[vm.layout.mref]
	for at in occurrences(vm, stack, thread.stacksize, 8, encode(vm, child)) do
		local ok, name = pcall(local_name, vm, thread, at)
		return ok and name or "stack slot " .. (at - stack) // 8
	end
	return "frame"
end

OF[layout.USERDATA] = function(vm, parent, child)
	local udata = vm.t:value("GCudata", parent)
	if udata.metatable[vm.layout.ref] == child then return "metatable" end
	return udata.env[vm.layout.ref] == child and "environment" or "buffer"
end

OF[layout.TRACE] = function(vm, parent, child)
	local trace = vm.t:value("GCtrace", parent)
	if trace.startpt[vm.layout.ref] == child then return "prototype" end
	for _, name in ipairs { "link", "nextroot", "nextside" } do
		if graph.trace(vm, trace[name]) == child then return "trace" end
	end
	return "constant"
end

-- The name of the reference from one object to another; "?" if it was not found (the VM was running).
function label.of(vm, parent, child)
	local ok, text = pcall(function()
		local gct = vm.t:value("GChead", parent).gct
		return OF[gct] and OF[gct](vm, parent, child)
	end)
	return ok and text or "?"
end

-- The path of a graph to an object, as retention.path returns it.
function label.path(vm, g, addr)
	return retention.path(g, addr, function(parent, child) return label.of(vm, parent, child) end)
end

return label
