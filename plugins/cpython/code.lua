-- code: code objects: name, file, the line of an instruction, names of local variables.
local xcore = require "xcore"
local text = require "cpython.text"
local types = require "cpython.types"

local code = {}

local MOST_TABLE, MOST_NAMES = 1 << 22, 100000
local CELL, FREE, HIDDEN = 0x40, 0x80, 0x10 -- of co_localspluskinds

-- ---- lines ----

local LINE = {}

-- 3.9: pairs of bytes: addresses up, lines up or down.
function LINE.lnotab(table, first, offset)
	local line, addr = first, 0
	for i = 1, #table - 1, 2 do
		local up, by = string.unpack("<Bb", table, i)
		addr = addr + up
		if addr > offset then break end
		line = line + by
	end
	return line
end

-- 3.10: pairs of bytes: how many bytes of code, and the line's difference; -128 has no line.
function LINE.pairs(table, first, offset)
	local line, hi = first, 0
	for i = 1, #table - 1, 2 do
		local size, by = string.unpack("<Bb", table, i)
		hi = hi + size
		if by ~= -128 then line = line + by end
		if hi > offset then return by ~= -128 and line or nil end
	end
	return nil
end

-- 3.11: 1cccclll: kind and length of an entry; then bytes below 128, including a varint of the line.
local function signed_varint(table, at)
	local value, shift = 0, 0
	repeat
		local byte = table:byte(at) or 0
		value = value | (byte & 63) << shift
		shift, at = shift + 6, at + 1
	until byte & 64 == 0 or shift > 30
	return value & 1 == 1 and -(value >> 1) or value >> 1
end

local NO_LINE, LONG, NO_COLUMNS, ONE_LINE = 15, 14, 13, 10

function LINE.locations(table, first, offset)
	local line, hi, at = first, 0, 1
	while at <= #table do
		local head = table:byte(at)
		local kind = head >> 3 & 15
		hi = hi + ((head & 7) + 1) * 2
		if kind == LONG or kind == NO_COLUMNS then
			line = line + signed_varint(table, at + 1)
		elseif kind >= ONE_LINE and kind < NO_COLUMNS then
			line = line + kind - ONE_LINE
		end
		if hi > offset then return kind ~= NO_LINE and line or nil end
		at = at + 1
		while at <= #table and table:byte(at) < 128 do at = at + 1 end
	end
	return nil
end

local function bytes_of(py, v)
	if not v then return "" end
	local addr = xcore.addr(v)
	local size = py.t:i64(addr + py.layout.ob_size)
	if size < 0 or size > MOST_TABLE then error(xcore.error("format", "a line table of an impossible size")) end
	return py.t:read(addr + py.layout.items.bytes, size)
end

-- ---- names ----

local function names_of(py, v, list)
	if not v then return list end
	local t, addr = py.t, xcore.addr(v)
	local count = t:i64(addr + py.layout.ob_size)
	if count < 0 or count > MOST_NAMES then error(xcore.error("format", "an impossible number of variable names")) end
	for i = 0, count - 1 do
		list[#list + 1] = text.maybe(t, t:ptr(addr + py.layout.items.tuple + i * py.layout.word), 200) or "?"
	end
	return list
end

-- Names of the slots of a frame, and by slot whether it is a cell or hidden.
local function slots(py, self)
	local v = self.value
	if py.layout.locals_plus then
		self.names = names_of(py, v.co_localsplusnames, {})
		local kinds = bytes_of(py, v.co_localspluskinds)
		for i = 1, #self.names do
			local kind = kinds:byte(i) or 0
			self.cell[i], self.hidden[i] = kind & (CELL | FREE) ~= 0, kind & HIDDEN ~= 0
		end
		return
	end
	self.names = names_of(py, v.co_varnames, {})
	local plain = #self.names
	names_of(py, v.co_cellvars, self.names)
	names_of(py, v.co_freevars, self.names)
	for i = plain + 1, #self.names do self.cell[i] = true end
end

local function new(py, addr)
	local type = types.of(py, addr)
	if not type or type.kind ~= "code" then return false end
	local v = py.t:value("PyCodeObject", addr)
	local self = {
		addr = addr, value = v, first = v.co_firstlineno, arguments = v.co_argcount + v.co_kwonlyargcount,
		cell = {}, hidden = {}, names = {},
	}
	local VARARGS, VARKEYWORDS = 4, 8
	for _, flag in ipairs { VARARGS, VARKEYWORDS } do
		if v.co_flags & flag ~= 0 then self.arguments = self.arguments + 1 end
	end
	self.name = text.maybe(py.t, py.layout.qualified and v.co_qualname or v.co_name, 500)
	self.short = text.maybe(py.t, v.co_name, 500)
	self.file = text.maybe(py.t, v.co_filename, 4096)
	self.traceable = py.layout.adaptive and v._co_firsttraceable or 0
	self.start = py.layout.adaptive and addr + xcore.offsetof("PyCodeObject", "co_code_adaptive") or nil
	local ok, lines = pcall(bytes_of, py, v[py.layout.line_table == "lnotab" and "co_lnotab" or "co_linetable"])
	if ok then self.lines = lines else py:damaged(addr, "the line table of a code object cannot be read") end
	local had, err = pcall(slots, py, self)
	if not had then py:damaged(addr, "variables of a code object: " .. tostring(err.message or err)) end
	return self
end

-- The code object at an address; nil if there is none.
function code.at(py, addr)
	py.codes = py.codes or {}
	local found = py.codes[addr]
	if found == nil then
		local ok, made = pcall(new, py, addr)
		found = ok and made or false
		py.codes[addr] = found
	end
	return found or nil
end

-- The line of an instruction, by its offset in bytes; before the first one, the line of the definition.
function code.line(py, self, offset)
	if offset < 0 then return self.first end
	return self.lines and LINE[py.layout.line_table](self.lines, self.first, offset) or nil
end

return code
