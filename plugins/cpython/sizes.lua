-- sizes: of objects, as in sys.getsizeof: with the collector's head, and with the arrays of lists, dictionaries, sets
-- and deques. Other memory outside or after an instance (the values of its attributes) is not counted, nor the result
-- of a __sizeof__ of C extensions.
local xcore = require "xcore"
local references = require "cpython.references"
local types = require "cpython.types"

local sizes = {}

local LARGEST = 1 << 40 -- bytes of an object
local FLAGS = require("cpython.layout").FLAGS
local SIZE = {}

local function var_sizes(addresses, basic, item)
	local list, column = {}, references.gather("PyVarObject", addresses, { "ob_size" }).ob_size
	for i = 1, #addresses do list[i] = basic + math.abs(column[i] or 0) * item end
	return list
end

local function each(addresses, fn)
	local list = {}
	for i, addr in ipairs(addresses) do
		local ok, size = pcall(fn, addr)
		list[i] = ok and size or 0
	end
	return list
end

function SIZE.list(py, type, addresses)
	local list, column = {}, references.gather("PyListObject", addresses, { "allocated" }).allocated
	for i = 1, #addresses do list[i] = type.basic + math.max(column[i] or 0, 0) * py.layout.word end
	return list
end

function SIZE.set(_, type, addresses)
	local c, list = references.gather("PySetObject", addresses, { "table", "mask" }), {}
	local small = xcore.offsetof("PySetObject", "smalltable")
	for i, addr in ipairs(addresses) do
		local elsewhere = c.table[i] and c.table[i] ~= addr + small
		list[i] = type.basic + (elsewhere and (c.mask[i] + 1) * xcore.sizeof "setentry" or 0)
	end
	return list
end

function SIZE.dict(py, type, addresses)
	local c, list = references.gather("PyDictObject", addresses, { "ma_keys", "ma_values" }), {}
	for i in ipairs(addresses) do
		local keys = c.ma_keys[i] and c.ma_keys[i] ~= 0 and references.keys_at(py, c.ma_keys[i])
		local size = type.basic
		if keys and c.ma_values[i] ~= 0 then size = size + keys.room * py.layout.word end
		if keys and keys.references == 1 then size = size + keys.bytes end
		list[i] = size
	end
	return list
end

function SIZE.str(py, _, addresses)
	local t, ascii, compact = py.t, xcore.sizeof "PyASCIIObject", xcore.sizeof "PyCompactUnicodeObject"
	local c, list =
		references.gather("PyASCIIObject", addresses, { "length", "state.kind", "state.compact", "state.ascii" }), {}
	for i, addr in ipairs(addresses) do
		local bytes = ((c.length[i] or 0) + 1) * (c["state.kind"][i] or 1)
		if c["state.compact"][i] == 0 then
			list[i] = xcore.sizeof "PyUnicodeObject" + bytes
		elseif c["state.ascii"][i] ~= 0 then
			list[i] = ascii + bytes
		else
			list[i] = compact + bytes
			local at = addr + xcore.offsetof("PyCompactUnicodeObject", "utf8")
			if t:ptr(at) ~= 0 and t:ptr(at) ~= addr + compact then
				list[i] = list[i] + t:i64(addr + xcore.offsetof("PyCompactUnicodeObject", "utf8_length")) + 1
			end
		end
	end
	return list
end

function SIZE.int(py, type, addresses)
	if not py.layout.tagged_int then
		local column, list = references.gather("PyVarObject", addresses, { "ob_size" }).ob_size, {}
		local basic = xcore.offsetof("PyLongObject", "ob_digit")
		local least = py.layout.interpreter_frames and 1 or 0 -- since 3.11 zero also has a digit
		for i = 1, #addresses do list[i] = basic + math.max(math.abs(column[i] or 0), least) * type.item end
		return list
	end
	local at, list = xcore.offsetof("PyLongObject", "long_value.ob_digit"), {}
	local column = references.gather("PyLongObject", addresses, { "long_value.lv_tag" })["long_value.lv_tag"]
	for i = 1, #addresses do list[i] = at + math.max((column[i] or 0) >> 3, 1) * xcore.sizeof "digit" end
	return list
end
SIZE.bool = SIZE.int

function SIZE.type(py, _, addresses)
	return each(addresses, function(addr)
		local type = types.at(py, addr)
		if not type then return 0 end
		if not type.heap then return xcore.sizeof "PyTypeObject" - py.layout.gc_head end -- static: it has no head
		local cached = py.t:value("PyHeapTypeObject", addr).ht_cached_keys
		local keys = cached and references.keys_at(py, xcore.addr(cached))
		return xcore.sizeof "PyHeapTypeObject" + (keys and keys.bytes or 0)
	end)
end

-- Blocks of 64 items of a deque (Modules/_collectionsmodule.c).
function SIZE.deque(py, type, addresses)
	local ITEMS, BLOCK = 64, 66 * py.layout.word
	local c, list = references.gather("dequeobject", addresses, { "leftindex", "ob_base.ob_size" }), {}
	for i = 1, #addresses do
		list[i] = type.basic + ((c.leftindex[i] or 0) + (c["ob_base.ob_size"][i] or 0) + ITEMS - 1) // ITEMS * BLOCK
	end
	return list
end

local function slots_of(v, L)
	return L.locals_plus and v.co_nlocalsplus + v.co_stacksize or v.co_nlocals + v.co_stacksize
end

function SIZE.generator(py, type, addresses)
	if not py.layout.interpreter_frames then return var_sizes(addresses, type.basic, 0) end
	local at = xcore.offsetof("PyGenObject", "gi_iframe")
	return each(addresses, function(addr)
		local v = py.t:value("_PyInterpreterFrame", addr + at)[py.layout.code_of_frame]
		local code = py.t:value("PyCodeObject", xcore.addr(v))
		return at + xcore.offsetof("_PyInterpreterFrame", "localsplus") + slots_of(code, py.layout) * py.layout.word
	end)
end

function SIZE.frame(py, type, addresses)
	return each(addresses, function(addr)
		local L, v, count = py.layout, py.t:value("PyFrameObject", addr), nil
		if not L.interpreter_frames then
			local cells = require("cpython.code").at(py, xcore.addr(v.f_code))
			return type.basic + (cells.value.co_stacksize + #cells.names - 1) * L.word
		end
		count = slots_of(py.t:value("PyCodeObject", xcore.addr(v.f_frame[L.code_of_frame])), L)
		return xcore.offsetof("PyFrameObject", "_f_frame_data")
			+ xcore.offsetof("_PyInterpreterFrame", "localsplus")
			+ count * L.word
	end)
end

-- Bytes in front of objects of a type: the collector's head, and two words for a dictionary or weak references
-- managed by the interpreter.
local function before(py, type)
	local bytes, flags = type.gc and py.layout.gc_head or 0, FLAGS.MANAGED_DICT | FLAGS.MANAGED_WEAKREF
	if py.layout.interpreter_frames and type.flags & flags ~= 0 then bytes = bytes + 2 * py.layout.word end
	return bytes
end

-- Sizes of objects of one type, in order.
function sizes.of(py, type, addresses)
	local own = SIZE[type.kind]
	local list = own and own(py, type, addresses) or var_sizes(addresses, type.basic, type.item)
	local more = before(py, type)
	for i, size in ipairs(list) do
		if size < 0 or size > LARGEST then
			py:damaged(addresses[i], "an object of an impossible size")
			size = type.basic
		end
		list[i] = size + more
	end
	return list
end

return sizes
