-- ctype: the C types of the FFI (lj_ctype.h), and their spelling (tostring(ffi.typeof(x))).
--
--	info  31    28                  16 15        0
--	      | kind | flags, alignment, … | child's id |       kinds and flags below
--	size  bytes; of a field its offset; of an enumerator its value
--	sib   the next field, parameter or enumerator
local xcore = require "xcore"

local ctype = {}
local Types = {}
Types.__index = Types

local NUM, STRUCT, PTR, ARRAY, VOID, ENUM, FUNC, TYPEDEF, ATTRIB, FIELD, BITFIELD, CONSTVAL =
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
local BOOL, FLOAT, CONST, VOLATILE, UNSIGNED, VLA =
	0x08000000, 0x04000000, 0x02000000, 0x01000000, 0x00800000, 0x00100000
local REFERENCE, VECTOR, COMPLEX, UNION = 0x00800000, 0x08000000, 0x04000000, 0x00800000
local NO_SIZE, QUALIFIER, SUBTYPE = 0xffffffff, 1, 3
local MOST, DEEPEST = 65535, 64
local FIRST_OWN, LAST_OWN = 17, 31 -- ids that LuaJIT creates itself; the one for C types is an enum without a name

-- All types of a VM, read at once; nil if the FFI was not loaded.
function ctype.of(vm)
	if not vm.ctypes or not vm.ctypes.tab then return nil end -- not loaded, or damaged
	if vm.ctype_table then return vm.ctype_table end
	local name = "name." .. vm.layout.ref
	local count = math.min(vm.ctypes.top, MOST)
	local columns = xcore.columns(vm.ctypes.tab, count, { "info", "size", "sib", name })
	columns.name = columns[name]
	vm.ctype_table = setmetatable({ vm = vm, count = count, columns = columns, texts = {} }, Types)
	return vm.ctype_table
end

-- One type: kind, info, size, child, sib and name (nil without one); nil if there is none.
function Types:get(id)
	if not math.tointeger(id) or id < 0 or id >= self.count then return nil end
	local c, i = self.columns, id + 1
	local name = c.name[i] ~= 0 and self.vm:string(c.name[i], 256) or nil
	return {
		id = id,
		info = c.info[i],
		kind = c.info[i] >> 28,
		size = c.size[i],
		child = c.info[i] & 0xffff,
		sib = c.sib[i],
		name = name,
	}
end

-- The type without attributes and typedefs.
function Types:raw(id)
	local one = self:get(id)
	for _ = 1, DEEPEST do
		if not one or one.kind ~= ATTRIB and one.kind ~= TYPEDEF then break end
		one = self:get(one.child)
	end
	return one
end

local function attribute(one)
	return one.info >> 16 & 0xff
end

-- ---- spelling: words come in from the outside in, so text grows to both sides ----

local Text = {}
Text.__index = Text

function Text:word(word)
	if self.space then self.text = " " .. self.text end
	self.text, self.space = word .. self.text, true
end

function Text:before(character)
	self.text = character .. self.text
end

function Text:qualifiers(info)
	if info & VOLATILE ~= 0 then self:word "volatile" end
	if info & CONST ~= 0 then self:word "const" end
end

local function number_word(one)
	if one.info & BOOL ~= 0 then return "bool" end
	if one.info & FLOAT ~= 0 then return one.size == 8 and "double" or one.size == 4 and "float" or "long double" end
	local unsigned = one.info & UNSIGNED ~= 0
	if one.size == 1 then return unsigned and "unsigned char" or "char" end
	if one.size < 8 then return (unsigned and "unsigned " or "") .. (one.size == 4 and "int" or "short") end
	return ("%sint%d_t"):format(unsigned and "u" or "", one.size * 8)
end

-- Handles the end of a declaration: a type with a name or a number. Returns true.
local function named(text, one, word, qualifiers)
	text:word(one.name or tostring(one.id))
	text:word(word)
	text:qualifiers(qualifiers)
	return true
end

local SPELL = {}

SPELL[NUM] = function(_, text, one, state)
	text:word(number_word(one))
	text:qualifiers(state.qualifiers | one.info)
	return true
end

SPELL[VOID] = function(_, text, one, state)
	text:word "void"
	text:qualifiers(state.qualifiers | one.info)
	return true
end

SPELL[STRUCT] = function(_, text, one, state)
	return named(text, one, one.info & UNION ~= 0 and "union" or "struct", state.qualifiers)
end

SPELL[ENUM] = function(self, text, one, state)
	if self:is_ctype(one.id) then
		text:word "ctype"
		return true
	end
	return named(text, one, "enum", state.qualifiers)
end

SPELL[ATTRIB] = function(_, _, one, state)
	if attribute(one) == QUALIFIER then state.qualifiers = state.qualifiers | one.size end
end

SPELL[TYPEDEF] = function() end

SPELL[PTR] = function(self, text, one, state)
	if one.info & REFERENCE ~= 0 then
		text:before "&"
	else
		text:qualifiers(state.qualifiers | one.info)
		if self.vm.t.pointer_size == 8 and one.size == 4 then text:word "__ptr32" end
		text:before "*"
	end
	state.qualifiers, state.pointed, text.space = 0, true, true
end

local function parenthesis(text, state)
	text.space = true
	if not state.pointed then return end
	state.pointed = false
	text:before "("
	text.text = text.text .. ")"
end

SPELL[FUNC] = function(_, text, _, state)
	parenthesis(text, state)
	text.text = text.text .. "()"
end

local function count_of(self, one)
	if one.size == NO_SIZE then return one.info & VLA ~= 0 and "?" or "" end
	local element = self:get(one.child)
	return tostring(element and element.size > 0 and one.size // element.size or 0)
end

SPELL[ARRAY] = function(self, text, one, state)
	if one.info & COMPLEX ~= 0 then
		if one.size == 8 then text:word "float" end
		text:word "complex"
		text:qualifiers(state.qualifiers)
		return true
	end
	if one.info & VECTOR ~= 0 then
		text:word(("__attribute__((vector_size(%d)))"):format(one.size))
		return false
	end
	parenthesis(text, state)
	text.text = ("%s[%s]"):format(text.text, count_of(self, one))
end

-- Is this the id of C types as values (ffi.typeof)?
function Types:is_ctype(id)
	if not self.own then
		self.own = -1
		for own = FIRST_OWN, LAST_OWN do
			local one = self:get(own)
			if one and one.kind == ENUM and not one.name then
				self.own = own
				break
			end
		end
	end
	return id == self.own
end

-- The FFI's spelling: "const char *", "int (*)[4]", "struct 95". "?" for an impossible type.
function Types:spell(id)
	local known = self.texts[id]
	if known then return known end
	local text, state, at = setmetatable({ text = "", space = false }, Text), { qualifiers = 0, pointed = false }, id
	for _ = 1, DEEPEST do
		local one = self:get(at)
		local spell = one and SPELL[one.kind]
		if not spell then
			text:word "?"
			break
		end
		if spell(self, text, one, state) then break end
		at = one.child
	end
	self.texts[id] = text.text
	return text.text
end

local function typedef(self, id)
	if not self.typedefs then
		self.typedefs = {}
		for i = self.count - 1, 0, -1 do
			if self.columns.info[i + 1] >> 28 == TYPEDEF then
				local one = self:get(i)
				self.typedefs[one.child] = one.name
			end
		end
	end
	return self.typedefs[id]
end

-- The typedef name of a struct, union or enum; nil without one. (Typedefs of other types say less than the types.)
function Types:typedef(id)
	local one = self:raw(id)
	if not one or one.kind ~= STRUCT and one.kind ~= ENUM then return nil end
	return typedef(self, id) or typedef(self, one.id)
end

-- For display: the spelling, with the typedef name if it adds information: "struct 95 (record_t)".
function Types:title(id)
	local text, one, name = self:spell(id), self:raw(id), self:typedef(id)
	if name and not one.name then return ("%s (%s)"):format(text, name) end
	return text
end

-- ---- values ----

-- An address in LuaJIT's format: at least 8 digits, then as many bytes as necessary.
function ctype.pointer(addr)
	if addr == 0 then return "NULL" end
	local high, digits = addr >> 32, 8
	while high ~= 0 do high, digits = high >> 8, digits + 2 end
	return ("0x%0" .. digits .. "x"):format(addr)
end

local function enumerator(self, one, number)
	local sib = one.sib
	for _ = 1, MOST do
		local constant = sib ~= 0 and self:get(sib)
		if not constant then return nil end
		if constant.kind == CONSTVAL and constant.size == number & 0xffffffff then return constant.name end
		sib = constant.sib
	end
end

local READ = { [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64" }
local READ_SIGNED = { [1] = "i8", [2] = "i16", [4] = "i32", [8] = "i64" }

local function real(number)
	return require("luajit.value").number(number)
end

local function show_number(self, one, at)
	local t = self.vm.t
	if one.info & BOOL ~= 0 then return t:u8(at) ~= 0 and "true" or "false" end
	if one.info & FLOAT ~= 0 then
		if one.size > 8 then return nil end
		return real(one.size == 8 and t:f64(at) or t:f32(at))
	end
	local unsigned = one.info & UNSIGNED ~= 0
	local number = READ[one.size] and t[(unsigned and READ or READ_SIGNED)[one.size]](t, at)
	if not number then return nil end
	if one.size < 8 then return tostring(number) end
	return unsigned and xcore.u64(number) .. "ULL" or number .. "LL"
end

local function pointer_text(self, at, size)
	local to = size == 4 and self.vm.t:u32(at) or self.vm.t:u64(at)
	local name = to ~= 0 and xcore.symbol(to)
	return ctype.pointer(to) .. (name and " <" .. name .. ">" or ""), to
end

-- A value of a scalar type in memory, for display; nil for other types.
function Types:scalar(id, at)
	local one = self:raw(id)
	if not one then return nil end
	if one.kind == NUM then return show_number(self, one, at) end
	if one.kind == PTR then return (pointer_text(self, at, one.size)) end
	if one.kind == ENUM then
		local number = self.vm.t:u32(at)
		local name = enumerator(self, one, number)
		return name and ("%s (%d)"):format(name, number) or tostring(number)
	end
	if one.kind == ARRAY and one.info & COMPLEX ~= 0 then
		local half = one.size // 2
		local read = half == 8 and self.vm.t.f64 or self.vm.t.f32
		local re, im = read(self.vm.t, at), read(self.vm.t, at + half)
		return ("%s%s%si"):format(real(re), im >= 0 and "+" or "", real(im))
	end
end

-- ---- cdata objects ----

local function plain(self, one, id, at)
	if one.kind == ARRAY and one.info & COMPLEX ~= 0 then return self:scalar(one.id, at) end
	if one.kind == NUM and one.size == 8 and one.info & (BOOL | FLOAT) == 0 then return show_number(self, one, at) end
	local text, to = self:title(id), at
	if one.kind == ENUM then return ("cdata<%s>: %s"):format(text, self:scalar(one.id, at)) end
	if one.kind == PTR or one.kind == FUNC then
		local shown = pointer_text(self, at, one.kind == PTR and one.size or self.vm.t.pointer_size)
		return ("cdata<%s>: %s"):format(text, shown)
	end
	return ("cdata<%s>: %s"):format(text, ctype.pointer(to))
end

-- As Lua's tostring, with names if they are known: "12LL", "cdata<struct 95 (record_t)>: 0x7f…", "ctype<int [4]>".
function ctype.show(vm, addr)
	local types = ctype.of(vm)
	local id, at = vm.t:value("GCcdata", addr).ctypeid, addr + xcore.sizeof "GCcdata"
	if not types then return ("cdata %s, C type %d"):format(xcore.hex(addr), id) end
	if types:is_ctype(id) then return ("ctype<%s>"):format(types:title(vm.t:u32(at))) end
	local one = types:raw(id)
	if not one then return ("cdata %s of C type %d, which does not exist"):format(xcore.hex(addr), id) end
	if one.kind == PTR and one.info & REFERENCE ~= 0 then
		at = vm.t:ptr(at)
		one = types:raw(one.child)
	end
	return plain(types, one, id, at)
end

-- Fields of a struct or union: fn(name, type's id, offset, bits: { position, count, container } of a bit-field),
-- including those of nested anonymous ones.
function Types:fields(id, fn, base, depth)
	local one = self:raw(id)
	if not one or one.kind ~= STRUCT then return end
	local sib = one.sib
	for _ = 1, MOST do
		local field = sib ~= 0 and self:get(sib)
		if not field then return end
		local offset = (base or 0) + field.size
		if field.kind == FIELD and field.name then
			fn(field.name, field.child, offset)
		elseif field.kind == BITFIELD and field.name then
			fn(field.name, nil, offset, { position = field.info & 0x7f, count = field.info >> 8 & 0x7f, container = field.info >> 16 & 0x7f,
				unsigned = field.info & UNSIGNED ~= 0 })
		elseif field.kind == ATTRIB and attribute(field) == SUBTYPE and (depth or 0) < 8 then
			self:fields(field.child, fn, offset, (depth or 0) + 1)
		end
		sib = field.sib
	end
end

ctype.STRUCT, ctype.ARRAY, ctype.PTR = STRUCT, ARRAY, PTR
return ctype
