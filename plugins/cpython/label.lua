-- label: how one object refers to another: "[3]", "['key']", ".attribute".
local xcore = require "xcore"
local code = require "cpython.code"
local dict = require "cpython.dict"
local owned = require "cpython.owned"
local text = require "cpython.text"
local types = require "cpython.types"
local value = require "cpython.value"

local label = {}

local MOST = 1000000
local EXCEPTION = require("cpython.layout").FLAGS.EXCEPTION
local LABEL = {}

local function by_key(py, each, to)
	local found
	each(function(key, held)
		if held == to then found = key end
		if key == to then found = found or false end
		return found
	end)
	return found
end

function LABEL.dict(py, _, from, to)
	local key = by_key(py, function(fn) dict.each(py, from, fn, MOST) end, to)
	return key and "[" .. value.show(py, key) .. "]" or key == false and "key" or nil
end

-- The index of a word among these, from 0; nil: none.
local function index_of(py, at, count, to)
	for i = 0, math.min(count, MOST) - 1 do
		if py.t:ptr(at + i * py.layout.word) == to then return i end
	end
end

local function index_in(py, at, count, to)
	local i = index_of(py, at, count, to)
	return i and ("[%d]"):format(i)
end

function LABEL.list(py, _, from, to)
	local at = py.t:value("PyListObject", from).ob_item
	return at and index_in(py, xcore.addr(at), py.t:i64(from + py.layout.ob_size), to)
end

function LABEL.tuple(py, _, from, to)
	return index_in(py, from + py.layout.items.tuple, py.t:i64(from + py.layout.ob_size), to)
end

-- The place in it is not shown, because that would need a walk over its blocks.
function LABEL.deque() return "item" end

function LABEL.set() return "member" end
function LABEL.cell() return "held" end

-- ---- structs ----

-- The members of C structs that are references.
local STRUCTS = {
	["function"] = "PyFunctionObject", code = "PyCodeObject", type = "PyTypeObject", frame = "PyFrameObject", method = "PyMethodObject",
	generator = "PyGenObject",
}

local function struct_of(type)
	return STRUCTS[type.kind] or type.flags & EXCEPTION ~= 0 and "PyBaseExceptionObject" or nil
end

local function member(py, name, from, to)
	if not name or not py.t:has_type(name) then return nil end
	for _, m in ipairs(py.t:type(name):strip():members()) do
		if m.offset and m.name and m.type.size == py.layout.word and py.t:ptr(from + m.offset) == to then
			return "." .. m.name
		end
	end
end

-- "variable x" of a frame, or its stack: slots above it are stale, and were not scanned.
local function slot(py, c, at, to)
	local room = c and c.value.co_stacksize + #c.names or 0
	local i = index_of(py, at, room, to)
	return i and (c.names[i + 1] and "variable " .. c.names[i + 1] or "stack of values") or nil
end

local function in_interpreter_frame(py, at, to)
	local held = py.t:value("_PyInterpreterFrame", at)[py.layout.code_of_frame]
	local c = held and code.at(py, xcore.addr(held))
	return slot(py, c, at + xcore.offsetof("_PyInterpreterFrame", "localsplus"), to)
		or member(py, "_PyInterpreterFrame", at, to)
end

function LABEL.generator(py, type, from, to)
	local found, further = member(py, struct_of(type), from, to), owned.further(py, type)
	if found or further and py.t:ptr(from + further) == to then return found or ".origin_or_finalizer" end
	if not py.layout.interpreter_frames then return nil end
	return in_interpreter_frame(py, from + xcore.offsetof("PyGenObject", "gi_iframe"), to)
end

function LABEL.frame(py, type, from, to)
	if py.layout.interpreter_frames then
		return member(py, struct_of(type), from, to)
			or in_interpreter_frame(py, from + xcore.offsetof("PyFrameObject", "_f_frame_data"), to)
	end
	local held = py.t:value("PyFrameObject", from).f_code
	local found =
		slot(py, held and code.at(py, xcore.addr(held)), from + xcore.offsetof("PyFrameObject", "f_localsplus"), to)
	return found or member(py, struct_of(type), from, to)
end

-- ---- words ----

local OBJECT, OBJECT_OR_ERROR = 6, 16 -- kinds of PyMemberDef: references

-- The descriptor's name of the member at this offset: of __slots__, or of a C struct. A descriptor of members is an
-- object with its class, name and qualified name, then the definition: name, kind, offset.
local function named(py, type, offset)
	local t, word, found = py.t, py.layout.word, nil
	local at = type.value
	while at and not found do
		local held = at.tp_dict
		if held then
			dict.each(py, xcore.addr(held), function(key, descriptor)
				local kind = types.of(py, descriptor)
				if not kind or kind.kind ~= "member" then return false end
				local definition = t:ptr(descriptor + 5 * word)
				local what = t:u32(definition + word)
				if (what == OBJECT or what == OBJECT_OR_ERROR) and t:i64(definition + 2 * word) == offset then
					found = text.maybe(t, key, 200)
				end
				return found
			end, 100000)
		end
		at = at.tp_base
	end
	return found
end

-- An object whose layout only its own code knows: is the word a reference at all?
local function word_of(py, type, from, to)
	local items = type.item == py.layout.word and py.t:i64(from + py.layout.ob_size) or 0
	local i = index_of(py, from, type.basic // py.layout.word + items, to)
	if not i then return nil end
	local name = named(py, type, i * py.layout.word)
	return name and "." .. name or ("word at +%d, a guess"):format(i * py.layout.word)
end

-- The name of a reference from an object to another; nil if it is unknown.
function label.of(py, from, to)
	local ok, found = pcall(function()
		local type = types.of(py, from)
		if not type then return nil end
		if type.addr == to then return "its class" end
		local known = LABEL[type.kind]
		local told = known and known(py, type, from, to) or not known and member(py, struct_of(type), from, to)
		if told then return told end
		local key = by_key(py, function(fn) dict.each_attribute(py, from, type, fn, 100000) end, to)
		if key then return "." .. (text.maybe(py.t, key, 200) or "?") end
		if dict.of_instance(py, from, type) == to then return ".__dict__" end
		return word_of(py, type, from, to)
	end)
	return ok and found or nil
end

return label
