-- ir: the intermediate representation of a trace (lj_ir.h).
--
--	63     48 47   40 39   32 31     16 15      0
--	| prev   | op    | type  | operand2| operand1|    instruction; prev is register and spill slot once it is assembled
--	                         |    integer, GCRef32 |   constants of 32 bits
--	                          the next word            constants of 64 bits
--
-- References are biased: constants lie below 0x8000 and grow downwards.
local xcore = require "xcore"

local ir = {}

local BIAS = 0x8000
local TYPE = 0x1f
-- IRT_*: types of values; the first ones are those of objects (lj_ir.h, IRTDEF).

local function names(vm)
	return vm:enum("IR_LT", "IR_")
end

-- The instruction with a reference.
function ir.at(vm, one, ref)
	if ref < one.nk or ref >= one.nins then return nil end
	local at = ir.address(vm, one, ref)
	local word = vm.t:u64(at)
	return {
		ref = ref, at = at, op1 = word & 0xffff, op2 = word >> 16 & 0xffff, type = word >> 32 & 0xff, op = word >> 40 & 0xff,
		reg = word >> 48 & 0xff, spill = word >> 56 & 0xff, i = (word & 0xffffffff ~ 0x80000000) - 0x80000000, word = word,
		name = names(vm)[word >> 40 & 0xff] or "#" .. (word >> 40 & 0xff),
	}
end

-- The pointer is biased as the references are.
function ir.address(vm, one, ref)
	return vm.t:ptr(xcore.addr(one, "ir")) + ref * 8
end

local function tagged(vm, tag, payload)
	if vm.layout.gc64 then return ~tag << 47 | payload end
	return (~tag & 0xffffffff) << 32 | payload & 0xffffffff
end

local function number_bits(number)
	return (string.unpack("<i8", string.pack("<d", number)))
end

-- A constant as the 64 bits that a stack slot would have; nil for what is none.
function ir.constant(vm, one, ref)
	if ref >= BIAS then return nil end
	local ins = ir.at(vm, one, ref)
	if not ins then return nil end
	local kind = ins.type & TYPE
	if ins.name == "KPRI" then
		return vm.layout.gc64 and (kind == 0 and -1 or ~kind << 47 | (1 << 47) - 1) or tagged(vm, kind, 0xffffffff)
	elseif ins.name == "KINT" then
		return number_bits(ins.i + 0.0)
	elseif ins.name == "KGC" then
		return tagged(vm, kind, vm.layout.gc64 and vm.t:u64(ins.at + 8) or ins.word & 0xffffffff)
	elseif ins.name == "KNUM" or ins.name == "KINT64" then
		return vm.t:u64(ins.at + 8)
	end
end

return ir
