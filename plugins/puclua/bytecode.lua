-- bytecode: the instructions of a function: names, operands, constants.
--
--	5.1 to 5.3   | B 9 bits | C 9 | A 8 | op 6 |        Bx: B and C; sBx: Bx less half of its most; Ax: all but op
--	5.4          | C 8 | B 8 | k 1 | A 8 | op 7 |       the same, and sJ: all but op, less half of its most       (lopcodes.h)
--
-- Names of instructions come from debug information (enum OpCode), or from Lua's table up to 5.3 (luaP_opnames);
-- formats of operands come from luaP_opmodes. Without these they are numbers.
local xcore = require "xcore"
local value = require "puclua.value"

local bytecode = {}

local MOST = 1 << 20
local NAMES = 256 -- opcodes

local function from_enum(t)
	if not t:has_type "OpCode" then return nil end
	local names = {}
	for _, e in ipairs(t:type("OpCode"):strip():enumerators()) do names[e.value] = e.name:gsub("^OP_", "") end
	return next(names) and names
end

local function from_table(t)
	if not t:has_symbol "luaP_opnames" then return nil end
	local names, at = {}, t:symbol "luaP_opnames".addr
	for i = 0, NAMES - 1 do
		local name = t:ptr(at + i * 8)
		if name == 0 then break end
		names[i] = t:cstring(name, 32)
	end
	return next(names) and names
end

-- Names of the instructions by number, and their source; an empty table if there is none.
function bytecode.names(vm)
	if not vm.opcodes then
		local ok, names = pcall(from_enum, vm.t)
		vm.opcodes, vm.opcodes_from = ok and names or nil, "debug information"
		if not vm.opcodes then
			ok, names = pcall(from_table, vm.t)
			vm.opcodes, vm.opcodes_from = ok and names or {}, ok and names and "the interpreter's table" or nil
		end
	end
	return vm.opcodes, vm.opcodes_from
end

local function mode_of(vm, op)
	if vm.opmodes == nil then
		vm.opmodes = vm.t:has_symbol "luaP_opmodes" and vm.t:symbol "luaP_opmodes".addr or false
	end
	return vm.opmodes and vm.t:readable(vm.opmodes + op, 1) == 1 and vm.t:u8(vm.opmodes + op) or nil
end

-- ---- operands ----

local FORMATS = { [0] = "ABC", "ABx", "AsBx", "Ax", "sJ" }

local function old(word)
	return {
		op = word & 63, A = word >> 6 & 255, B = word >> 23 & 511, C = word >> 14 & 511, Bx = word >> 14 & 0x3ffff,
		sBx = (word >> 14 & 0x3ffff) - 0x1ffff, Ax = word >> 6 & 0x3ffffff,
	}
end

local function new(word)
	return {
		op = word & 127, A = word >> 7 & 255, k = word >> 15 & 1, B = word >> 16 & 255, C = word >> 24 & 255, Bx = word >> 15 & 0x1ffff,
		sBx = (word >> 15 & 0x1ffff) - 0xffff, Ax = word >> 7 & 0x1ffffff, sJ = (word >> 7 & 0x1ffffff) - 0xffffff,
	}
end

-- The operands of 5.4 that are numbers of constants: always, or (k) if the instruction's bit k is set.
local CONSTANTS = {
	LOADK = "Bx", GETTABUP = "C", GETFIELD = "C", SETTABUP = "B", SETFIELD = "B", EQK = "B", SELF = "kC", ADDK = "C", SUBK = "C",
	MULK = "C", MODK = "C", POWK = "C", DIVK = "C", IDIVK = "C", BANDK = "C", BORK = "C", BXORK = "C",
}
local VALUES = { SETTABUP = true, SETTABLE = true, SETI = true, SETFIELD = true } -- C is a constant if k is set

local function constants_new(i, name)
	local list, which = {}, name and CONSTANTS[name]
	if which and (which:sub(1, 1) ~= "k" or i.k == 1) then list[1] = i[which:match "[^k]+"] end
	if name and VALUES[name] and i.k == 1 then list[#list + 1] = i.C end
	return list
end

-- Up to 5.3 the modes decide: an operand of mode K (3) of 256 or more is a constant less 256; Bx is always one.
local function constants_old(i, mode)
	if not mode then return {} end
	local list, format, K = {}, mode & 3, 3
	if format == 1 and mode >> 4 & 3 == K then return { i.Bx } end
	if format ~= 0 then return list end
	if mode >> 4 & 3 == K and i.B >= 256 then list[1] = i.B - 256 end
	if mode >> 2 & 3 == K and i.C >= 256 then list[#list + 1] = i.C - 256 end
	return list
end

local function operands(i, format)
	if format == "ABx" or format == "AsBx" then return ("%d %d"):format(i.A, format == "ABx" and i.Bx or i.sBx) end
	if format == "Ax" or format == "sJ" then return tostring(i[format]) end
	return ("%d %d %d%s"):format(i.A, i.B, i.C, i.k == 1 and " k" or "")
end

local function constant(vm, pt, n)
	if n >= pt.sizek then return "?" end
	local ok, text = pcall(value.show, vm, vm.t:ptr(xcore.addr(pt, "k")) + n * vm.layout.value_size, 60)
	return ok and text or "?"
end

-- The instructions of a prototype: fn(number from 0, name or nil, opcode, operands, constants as text or nil), at
-- most `most`.
function bytecode.each(vm, pt, most, fn)
	local names, count = bytecode.names(vm), math.min(math.max(pt.sizecode, 0), most, MOST)
	if count == 0 then return end
	local code = vm.t:read(vm.t:ptr(xcore.addr(pt, "code")), count * 4)
	for n = 0, count - 1 do
		local i = (vm.layout.alimit and new or old)(string.unpack("<I4", code, n * 4 + 1))
		local mode, name, shown = mode_of(vm, i.op), names[i.op], {}
		local list = vm.layout.alimit and constants_new(i, name)
			or not vm.layout.alimit and constants_old(i, mode)
			or {}
		for at, number in ipairs(list) do shown[at] = constant(vm, pt, number) end
		local format = FORMATS[mode and mode & (vm.layout.alimit and 7 or 3) or 0]
		fn(n, name, i.op, operands(i, format), #shown > 0 and table.concat(shown, " ") or nil)
	end
end

return bytecode
