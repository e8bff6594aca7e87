-- layouts.lua: prints the layouts of CPython 3.N, from a core whose interpreter has debug information:
--	xcore run layouts.lua CORE --debug-dir DIR >FILE
-- merge-layouts makes plugins/cpython/layouts.lua of the FILEs of all releases.
local xcore = require "xcore"
local t = xcore.target

-- Types in the order of their use by value, and which members: all, unless named.
local WANTED = {
	{ "digit" }, { "PyObject" }, { "PyVarObject" }, { "PyGC_Head" }, { "_Py_atomic_address" }, { "_Py_atomic_int" }, { "struct gc_generation" },
	{ "struct _gc_runtime_state", "generations permanent_generation enabled collecting" }, { "struct pyinterpreters", "head" },
	{ "struct pythreads", "head" }, { "struct _gil_runtime_state", "last_holder locked interval switch_number" },
	{ "struct _ceval_runtime_state", "gil" }, { "struct _ceval_state", "gil" }, { "struct _import_state", "modules" },
	{ "PyInterpreterState", "next id threads tstate_head runtime ceval gc modules imports sysdict builtins" },
	{ "_PyErr_StackItem", "exc_type exc_value exc_traceback previous_item" }, { "CFrame", "previous" }, { "_PyCFrame", "current_frame previous" }, { "_PyInterpreterFrame" },
	{ "PyThreadState", "next interp frame cframe current_frame thread_id native_thread_id exc_info curexc_value curexc_type current_exception" },
	{ "_PyRuntimeState", "interpreters ceval" }, { "PyTypeObject" }, { "PyHeapTypeObject", "ht_qualname ht_cached_keys" }, { "PyCodeObject" },
	{ "PyFrameObject" }, { "PyFunctionObject" }, { "PyMethodObject" }, { "PyCellObject" }, { "PyGenObject" }, { "PyWeakReference" },
	{ "PyBaseExceptionObject" }, { "PyListObject" }, { "PyTupleObject" }, { "PyBytesObject" }, { "_PyLongValue" }, { "PyLongObject" },
	{ "PyASCIIObject" }, { "PyCompactUnicodeObject" }, { "PyUnicodeObject", "data" }, { "dequeobject" }, { "setentry" }, { "PySetObject" }, { "PyDictKeyEntry" },
	{ "PyDictUnicodeEntry" }, { "PyDictValues" }, { "PyDictOrValues" }, { "PyDictKeysObject" }, { "PyDictObject" },
}

local declared = {} -- by the name of the struct or typedef
for _, wanted in ipairs(WANTED) do
	if t:has_type(wanted[1]) then
		declared[wanted[1]] = wanted[1]
		local bare = t:type(wanted[1]):strip()
		if bare.name:find "^struct [%a_]" or bare.name:find "^union [%a_]" then declared[bare.name] = wanted[1] end
	end
end

local INTS = { [1] = "char", [2] = "short", [4] = "int", [8] = "long" }
local text_of

local function struct_inline(type)
	local parts, anonymous = {}, 0
	for _, m in ipairs(type:members()) do
		if m.bit_size then
			parts[#parts + 1] = ("unsigned %s : %d;"):format(m.name, m.bit_size)
		elseif m.name then
			parts[#parts + 1] = text_of(m.type, m.name) .. ";"
		else
			anonymous = anonymous + 1
		end
	end
	return anonymous == 0 and #parts > 0 and parts[1]:find ":" and "struct { " .. table.concat(parts, " ") .. " }"
end

-- A declaration of `name` with a type.
function text_of(type, name)
	if declared[type.name] then return declared[type.name] .. " " .. name end
	local kind = type.kind
	if kind == "typedef" or kind == "const" or kind == "volatile" or kind == "atomic" then return text_of(type.target, name) end
	if kind == "array" then return text_of(type.target, name .. "[" .. (type.count or "") .. "]") end
	if kind == "pointer" then
		local target = type.target and type.target.kind ~= "function" and type.target:strip()
		local known = target and (declared[type.target.name] or declared[target.name])
		if known then return known .. " *" .. name end
		if target and target.kind == "pointer" and declared[target.target:strip().name] then return declared[target.target:strip().name] .. " **" .. name end
		return (target and target.size == 1 and "char *" or "void *") .. name
	end
	if kind == "int" or kind == "char" or kind == "enum" then return (type.signed and "" or "unsigned ") .. INTS[type.size] .. " " .. name end
	if kind == "bool" then return "_Bool " .. name end
	local inline = kind == "struct" and struct_inline(type)
	if inline then return inline .. " " .. name end
	return ("char %s[%d]"):format(name, type.size)
end

local function emit(name, only)
	local type, at, pads, bare = t:type(name):strip(), 0, 0, name:match "^struct (.*)" or name
	if type.kind ~= "struct" and type.kind ~= "union" then return print(("typedef %s;"):format(text_of(t:type(name):strip(), name))) end
	print((name:find "^struct " and "struct %s {" or "struct _of_%s {"):format(bare))
	for _, m in ipairs(type:members()) do
		if m.name and m.offset and (not only or (" " .. only .. " "):find(" " .. m.name .. " ", 1, true)) and (type.kind == "struct" or at == 0) then
			if m.offset > at then
				pads = pads + 1
				print(("\tchar _%d[%d];"):format(pads, m.offset - at))
			end
			print("\t" .. text_of(m.type, m.name) .. ";")
			at = m.offset + (m.type.size or 0)
		end
	end
	if type.size > at then print(("\tchar _%d[%d];"):format(pads + 1, type.size - at)) end
	print "} __attribute__((packed));"
end

for _, wanted in ipairs(WANTED) do
	if t:has_type(wanted[1]) and not wanted[1]:find "^struct " and (t:type(wanted[1]):strip().kind == "struct" or t:type(wanted[1]):strip().kind == "union") then
		print(("typedef struct _of_%s %s;"):format(wanted[1], wanted[1]))
	end
end
for _, wanted in ipairs(WANTED) do
	if t:has_type(wanted[1]) then emit(wanted[1], wanted[2]) end
end
if t:has_type "enum _frameowner" then
	print "enum _frameowner {"
	for _, e in ipairs(t:type "enum _frameowner":enumerators()) do print(("\t%s = %d,"):format(e.name, e.value)) end
	print "};"
end
