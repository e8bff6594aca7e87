-- types: type objects: their names, base classes, and so the layout of their instances.
local xcore = require "xcore"
local layout = require "cpython.layout"
local text = require "cpython.text"

local types = {}

local F = layout.FLAGS
local DEEPEST = 200    -- base classes
local METAS = 4        -- metaclasses of metaclasses
local LARGEST = 1 << 20 -- bytes of an instance, or of an item: more is damage

-- Kinds of layout by their type object: the C API exports these.
local BASES = {
	PyList_Type = "list", PyTuple_Type = "tuple", PyDict_Type = "dict", PySet_Type = "set", PyFrozenSet_Type = "set",
	PyUnicode_Type = "str", PyLong_Type = "int", PyBytes_Type = "bytes", PyFloat_Type = "float", PyBool_Type = "bool",
	PyFunction_Type = "function", PyCFunction_Type = "builtin", PyModule_Type = "module", PyCell_Type = "cell", PyCode_Type = "code",
	PyType_Type = "type",
	PyGen_Type = "generator", PyCoro_Type = "generator", PyAsyncGen_Type = "generator", PyFrame_Type = "frame", PyMethod_Type = "method",
	_PyWeakref_RefType = "weakref", PyMemberDescr_Type = "member", PyComplex_Type = "complex", PyByteArray_Type = "bytearray",
}

local function bases(py)
	if py.bases then return py.bases end
	py.bases = {}
	for name, kind in pairs(BASES) do
		if py.t:has_symbol(name) then py.bases[py.t:symbol(name).addr] = kind end
	end
	return py.bases
end

-- Is there a type object at this address? Its type is `type`, or derived from that (an instance of any other class has
-- a type, too, but is none), and its instances have a size.
local function is_type(py, addr, depth)
	local t, size = py.t, xcore.sizeof "PyTypeObject"
	if addr & 7 ~= 0 or t:readable(addr, size) < size then return false end
	local v, meta = t:value("PyTypeObject", addr), t:ptr(addr + py.layout.ob_type)
	if v.tp_name == nil or v.tp_basicsize < 2 * py.layout.word then return false end
	if v.tp_basicsize > LARGEST or v.tp_itemsize < 0 or v.tp_itemsize > LARGEST then return false end
	py.type_type = py.type_type or t:symbol "PyType_Type".addr
	if meta == py.type_type then return true end
	return depth < METAS and is_type(py, meta, depth + 1) and t:value("PyTypeObject", meta).tp_flags & F.TYPE ~= 0
end

-- The kind, and the size of instances of the type that it is named for: derived types add members. Deques have no
-- symbol.
local function kind_of(py, v)
	local known, at = bases(py), v
	for _ = 1, DEEPEST do
		if not at then return "object" end
		local kind = known[xcore.addr(at)]
		if not kind and xcore.str(at.tp_name, 20) == "collections.deque" and py.t:has_type "dequeobject" then
			kind = "deque"
		end
		if kind then return kind, at.tp_basicsize end
		at = at.tp_base
	end
	return "object"
end

-- "module.Class", without "builtins".
local function full_name(py, v, heap)
	local short = xcore.str(v.tp_name, 200)
	if not heap then return (short:gsub("^builtins%.", "")) end
	local h = py.t:value("PyHeapTypeObject", xcore.addr(v))
	local name = text.maybe(py.t, h.ht_qualname, 200) or short
	local module
	if v.tp_dict then
		local ok, found = pcall(require("cpython.dict").get, py, xcore.addr(v.tp_dict), "__module__")
		module = ok and found and text.maybe(py.t, found, 200) or nil
	end
	if not module or module == "builtins" then return name end
	return module .. "." .. name
end

local function new(py, addr)
	if not is_type(py, addr, 0) then return false end
	local v = py.t:value("PyTypeObject", addr)
	local flags = v.tp_flags
	local heap = flags & F.HEAP ~= 0
	local ok, kind, own = pcall(kind_of, py, v)
	local info = {
		addr = addr, value = v, flags = flags, heap = heap, kind = ok and kind or "object", basic = v.tp_basicsize, item = v.tp_itemsize,
		own = ok and own or v.tp_basicsize,
	}
	local named, name = pcall(full_name, py, v, heap)
	info.name = named and name or ("type at %s"):format(xcore.hex(addr))
	info.dict_offset, info.weak_offset = v.tp_dictoffset, v.tp_weaklistoffset
	info.managed = flags & F.MANAGED_DICT ~= 0 and py.layout.interpreter_frames
	info.inline = info.managed and flags & F.INLINE_VALUES ~= 0
	info.gc = flags & F.GC ~= 0
	return info
end

-- Addresses that are not types are also cached, up to a limit: any word of memory may be looked up.
local function refuse(py)
	py.refused = (py.refused or 0) + 1
	if py.refused < 65536 then return end
	for addr, info in pairs(py.types) do
		if not info then py.types[addr] = nil end
	end
	py.refused = 0
end

-- The properties of the type at an address; nil if there is none.
function types.at(py, addr)
	local info = py.types[addr]
	if info == nil then
		local ok, found = pcall(new, py, addr)
		info = ok and found or false
		if not info then refuse(py) end
		py.types[addr] = info
	end
	return info or nil
end

-- The type of an object.
function types.of(py, addr)
	if addr & 7 ~= 0 or py.t:readable(addr, 16) < 16 then return nil end
	return types.at(py, py.t:ptr(addr + py.layout.ob_type))
end

return types
