-- layout: the CPython structs that exist, and their differences from 3.9 to 3.13, determined by members, never by a
-- version number.
--
--	frames    3.9, 3.10  PyFrameObject, tstate.frame, f_back                      one C frame each
--	          3.11       _PyInterpreterFrame, tstate.cframe.current_frame         is_entry: the last one of a C frame,
--	                                                                              whose _PyCFrame is a local
--	          3.12       the same, and a frame of owner CSTACK below each entry: that one is a local of the C frame
--	          3.13       the same, tstate.current_frame, without _PyCFrame
--	lines     3.9 co_lnotab; 3.10 co_linetable of pairs; 3.11 co_linetable of locations (Objects/locations.md)
local xcore = require "xcore"

local layout = {}

-- ---- bits of tp_flags (Include/object.h) ----

layout.FLAGS = {
	INLINE_VALUES = 1 << 2, MANAGED_WEAKREF = 1 << 3, MANAGED_DICT = 1 << 4, HEAP = 1 << 9, GC = 1 << 14, LONG = 1 << 24, LIST = 1 << 25,
	TUPLE = 1 << 26, BYTES = 1 << 27, UNICODE = 1 << 28, DICT = 1 << 29, EXCEPTION = 1 << 30, TYPE = 1 << 31,
}

local function has(t, type, member)
	return t:has_type(type) and xcore.has(t:type(type), member)
end

local function owner_on_c_stack(t)
	if not t:has_type "enum _frameowner" then return 3 end
	for _, e in ipairs(t:type "enum _frameowner":enumerators()) do
		if e.name == "FRAME_OWNED_BY_CSTACK" or e.name == "FRAME_OWNED_BY_INTERPRETER" then return e.value end
	end
	return -1 -- 3.11 has none
end

local function read(t)
	local L = {}
	L.interpreter_frames = t:has_type "_PyInterpreterFrame"
	L.code_of_frame = has(t, "_PyInterpreterFrame", "f_executable") and "f_executable" or "f_code"
	L.instruction = has(t, "_PyInterpreterFrame", "instr_ptr") and "instr_ptr" or "prev_instr"
	L.function_of_frame = has(t, "_PyInterpreterFrame", "f_funcobj") and "f_funcobj" or "f_func"
	L.stacktop = has(t, "_PyInterpreterFrame", "stacktop") -- a number: 3.14 has a pointer
	L.is_entry = has(t, "_PyInterpreterFrame", "is_entry")
	L.on_c_stack = owner_on_c_stack(t)
	L.cframe = has(t, "PyThreadState", "cframe")
	L.locals_plus = has(t, "PyCodeObject", "co_localsplusnames")
	L.qualified = has(t, "PyCodeObject", "co_qualname")
	L.line_table = has(t, "PyCodeObject", "co_linetable") and (L.locals_plus and "locations" or "pairs") or "lnotab"
	L.adaptive = has(t, "PyCodeObject", "co_code_adaptive")
	L.tagged_int = has(t, "PyLongObject", "long_value")
	L.dict_log = has(t, "PyDictKeysObject", "dk_log2_size")
	L.dict_kind = has(t, "PyDictKeysObject", "dk_kind")
	L.values_struct = t:has_type "PyDictValues"
	L.values_embedded = has(t, "PyDictValues", "embedded")
	L.values_tagged = t:has_type "PyDictOrValues"
	L.gc_head = xcore.sizeof "PyGC_Head"
	L.word = t.pointer_size
	L.items = { tuple = xcore.offsetof("PyTupleObject", "ob_item"), bytes = xcore.offsetof("PyBytesObject", "ob_sval") }
	L.ob_type, L.ob_size = xcore.offsetof("PyObject", "ob_type"), xcore.offsetof("PyVarObject", "ob_size")
	return L
end

local known

function layout.of(t)
	known = known or read(t)
	return known
end

return layout
