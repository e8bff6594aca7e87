-- value: short descriptions of objects, like repr. No code of the program runs: an object with its own __repr__ is
-- shown by its class.
local xcore = require "xcore"
local dict = require "cpython.dict"
local text = require "cpython.text"
local types = require "cpython.types"

local value = {}

local ITEMS, DEEPEST, LETTERS = 6, 3, 80

local SHOW = {}

local show

local function items(py, at, count, depth, open, close)
	local parts = {}
	for i = 1, math.min(count, ITEMS) do parts[i] = show(py, py.t:ptr(at + (i - 1) * py.layout.word), depth + 1) end
	if count > ITEMS then parts[#parts + 1] = ("... %d more"):format(count - ITEMS) end
	return open .. table.concat(parts, ", ") .. close
end

local function size_of(py, addr)
	local size = py.t:i64(addr + py.layout.ob_size)
	if size < 0 then error(xcore.error("format", "a negative size")) end
	return size
end

function SHOW.str(py, addr) return text.repr(py.t, addr, LETTERS) end
function SHOW.int(py, addr) return text.integer(py.t, py.layout, addr) end
function SHOW.bool(py, addr) return text.integer(py.t, py.layout, addr) == "0" and "False" or "True" end
function SHOW.bytes(py, addr) return text.repr_bytes(py.t, py.layout, addr, LETTERS) end
function SHOW.float(py, addr) return text.repr_float(py.t:f64(addr + 2 * py.layout.word)) end

function SHOW.tuple(py, addr, _, depth)
	local count = size_of(py, addr)
	if depth >= DEEPEST then return ("(...%d)"):format(count) end
	return items(py, addr + py.layout.items.tuple, count, depth, "(", count == 1 and ",)" or ")")
end

function SHOW.list(py, addr, _, depth)
	local count = size_of(py, addr)
	if depth >= DEEPEST then return ("[...%d]"):format(count) end
	local at = py.t:value("PyListObject", addr).ob_item
	return items(py, at and xcore.addr(at) or 0, count, depth, "[", "]")
end

function SHOW.dict(py, addr, type, depth)
	local used, parts = py.t:value("PyDictObject", addr).ma_used, {}
	if depth >= DEEPEST then return ("{...%d}"):format(used) end
	dict.each(py, addr, function(key, item)
		parts[#parts + 1] = show(py, key, depth + 1) .. ": " .. show(py, item, depth + 1)
		return #parts >= ITEMS
	end)
	if used > #parts then parts[#parts + 1] = ("... %d more"):format(used - #parts) end
	local body = "{" .. table.concat(parts, ", ") .. "}"
	return type.name == "dict" and body or type.name .. "(" .. body .. ")"
end

function SHOW.set(py, addr, type)
	return ("<%s of %d>"):format(type.name, py.t:value("PySetObject", addr).used)
end

function SHOW.type(py, addr)
	local found = types.at(py, addr)
	return ("<class '%s'>"):format(found and found.name or "?")
end

SHOW["function"] = function(py, addr)
	local name = text.maybe(py.t, py.t:value("PyFunctionObject", addr).func_qualname, LETTERS)
	return ("<function %s at %s>"):format(name or "?", xcore.hex(addr))
end

function SHOW.module(py, addr)
	local held = dict.of_instance(py, addr, types.of(py, addr))
	local name = held and dict.get(py, held, "__name__")
	return ("<module '%s'>"):format(name and text.maybe(py.t, name, LETTERS) or "?")
end

function SHOW.code(py, addr)
	local code = py.t:value("PyCodeObject", addr)
	return ("<code %s, file \"%s\", line %d>"):format(text.maybe(py.t, code.co_name, LETTERS) or "?",
		text.maybe(py.t, code.co_filename, 200) or "?", code.co_firstlineno)
end

function SHOW.cell(py, addr, _, depth)
	local held = py.t:value("PyCellObject", addr).ob_ref
	return held and ("<cell: %s>"):format(show(py, xcore.addr(held), depth + 1)) or "<cell: empty>"
end

local function none(py)
	if py.none == nil then py.none = py.t:has_symbol "_Py_NoneStruct" and py.t:symbol "_Py_NoneStruct".addr or false end
	return py.none
end

function show(py, addr, depth)
	if addr == 0 then return "<NULL>" end
	if addr == none(py) then return "None" end
	local ok, found = pcall(function()
		local type = types.of(py, addr)
		if not type then return ("<no object at %s>"):format(xcore.hex(addr)) end
		local one = SHOW[type.kind]
		-- A class may define __repr__: its name shows that it is not a plain list.
		if one then
			local shown = one(py, addr, type, depth)
			if type.heap and type.kind ~= "dict" and type.kind ~= "type" then
				return type.name .. "(" .. shown .. ")"
			end
			return shown
		end
		return ("<%s object at %s>"):format(type.name, xcore.hex(addr))
	end)
	if ok then return found end
	return ("<cannot be read: %s>"):format(type(found) == "table" and found.message or tostring(found))
end

-- A short description of the object at an address.
function value.show(py, addr)
	return show(py, addr, 0)
end

-- The same in at most `max` letters.
function value.short(py, addr, max)
	local shown = show(py, addr, 1)
	local ok, at = pcall(utf8.offset, shown, max + 1)
	return ok and at and at <= #shown and shown:sub(1, at - 1) .. "..." or shown
end

return value
