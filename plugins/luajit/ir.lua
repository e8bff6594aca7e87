-- ir: the intermediate representation of a trace (lj_ir.h).
--
--	63     48 47   40 39   32 31     16 15      0
--	| prev   | op    | type  | operand2| operand1|    instruction; prev is register and spill slot once it is assembled
--	                         |    integer, GCRef32 |   constants of 32 bits
--	                          the next word            constants of 64 bits
--
-- References are biased: constants are below 0x8000 and grow downwards.
local xcore = require "xcore"

local name = require "luajit.name"

local ir = {}

local BIAS = 0x8000
local TYPE = 0x1f

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

-- The pointer is biased like the references.
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

-- A constant as the 64 bits of a stack slot; nil if it has none.
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

-- Is a constant a function?
function ir.is_function(vm, one, ref)
	local ins = ir.at(vm, one, ref)
	return ins and ins.name == "KGC" and ins.type & TYPE == 8
end

-- The object of a constant.
function ir.object(vm, one, ref)
	local bits = ir.constant(vm, one, ref)
	return vm.layout.gc64 and bits & (1 << 47) - 1 or bits & 0xffffffff
end

-- The functions among the constants of a trace, as addresses.
function ir.function_constants(vm, one)
	local list = {}
	for ref = BIAS - 1, math.max(one.nk, BIAS - 4096), -1 do
		if ir.is_function(vm, one, ref) then list[#list + 1] = ir.object(vm, one, ref) end
	end
	return list
end

-- A function, short: "file.lua:12", "string.gsub", "C function …".
function ir.function_name(vm, addr)
	if not vm.layout.gc64 then addr = addr & 0xffffffff end
	local fn = vm.t:value("GCfuncL", addr)
	if fn.ffid > 0 then return require("luajit.value").function_name(vm, addr) end
	return name.place(vm, vm:proto_of(fn))
end

-- The names of functions, each once; unreadable ones have none.
function ir.function_names(vm, functions)
	local list, seen = {}, {}
	for _, addr in ipairs(functions) do
		local ok, text = pcall(ir.function_name, vm, addr)
		if ok and text and not seen[text] then
			seen[text] = true
			list[#list + 1] = text
		end
	end
	return list
end

-- All instructions of a trace by reference, without constants; nil if there are more than a recorder makes (lj_jit.h,
-- maxrecord).
local MOST = 10000

function ir.all(vm, one)
	if one.nins - BIAS > MOST or one.nins < BIAS then return nil end
	local list = {}
	for ref = BIAS, one.nins - 1 do list[ref] = ir.at(vm, one, ref) end
	return list
end

-- The Lua functions among the constants of a trace: those that it inlined or calls. As texts. Its start is among them
-- where the trace has left that and calls it again; `others`: it is left out.
function ir.functions(vm, one, others)
	local list, start = {}, others and one.startpt[vm.layout.ref]
	for _, addr in ipairs(ir.function_constants(vm, one)) do
		local ok, good = pcall(function()
			local fn = vm.t:value("GCfuncL", addr)
			return fn.ffid == 0 and xcore.addr(vm:proto_of(fn)) ~= start
		end)
		if ok and good then list[#list + 1] = addr end
	end
	return ir.function_names(vm, list)
end

-- ---- a listing ----

-- The operands of an instruction: r a reference, l a literal, - nothing (lj_ir.h, IRDEF). Others have two references.
local OPERANDS = [[
NOP -- BASE ll PVAL l- GCSTEP -- LOOP -- USE r- RENAME rl PROF -- KPRI -- KINT -- KGC -- KPTR -- KKPTR -- KNULL -- KNUM -- KINT64 --
KSLOT rl BNOT r- BSWAP r- NEG rr FPMATH rl UREFO rl UREFC rl FREF rl TMPREF rl LREF -- ALOAD r- HLOAD r- ULOAD r- FLOAD rl XLOAD rl
SLOAD ll VLOAD rl TNEW ll TDUP r- BUFHDR rl TBAR r- XBAR -- CONV rl TOSTR rl STRTO r- CALLN rl CALLA rl CALLL rl CALLS rl
]]

local TYPES = {
	[0] = "nil", "false", "true", "lightud", "str", "p32", "thread", "proto", "func", "p64", "cdata", "tab", "udata", "float", "num", "i8",
	"u8", "i16", "u16", "int", "u32", "i64", "u64", "softfp",
}
local GUARD, PHI = 0x80, 0x40
local NO_REGISTER, SINK, SUNK = 0x80, 254, 253

local function flags(text)
	return function(value)
		local out = {}
		for i = 1, #text do
			if value & 1 << (i - 1) ~= 0 then out[#out + 1] = text:sub(i, i) end
		end
		return table.concat(out)
	end
end

local function conversion(value)
	local from, to, check = TYPES[value & 31] or "?", TYPES[value >> 5 & 31] or "?", value >> 12
	return to
		.. "."
		.. from
		.. (value & 0x800 ~= 0 and " sext" or "")
		.. (({ " none", " index", " check" })[check] or "")
end

local function field(value, vm)
	local name = vm:enum("IRFL_STR_LEN", "IRFL_")[value]
	return name and name:lower():gsub("_", ".", 1) or "#" .. value
end

local function enumerated(enumerator, prefix)
	return function(value, vm) return vm:enum(enumerator, prefix)[value] or "#" .. value end
end

-- The meaning of the literal operand of an instruction.
local LITERALS = {
	SLOAD = flags "PFTCRIK", XLOAD = flags "RVU", CONV = conversion,
	FLOAD = field, FREF = field, TMPREF = flags "12",
	FPMATH = enumerated("IRFPM_FLOOR", "IRFPM_"),
	UREFO = function(v) return "#" .. (v >> 8) end, UREFC = function(v) return "#" .. (v >> 8) end,
	CALLN = enumerated("IRCALL_lj_str_new", "IRCALL_"), CALLA = enumerated("IRCALL_lj_str_new", "IRCALL_"),
	CALLL = enumerated("IRCALL_lj_str_new", "IRCALL_"), CALLS = enumerated("IRCALL_lj_str_new", "IRCALL_"),
	BUFHDR = function(v) 	return ({ [0] = "RESET", "APPEND", "WRITE" })[v]
end, TOSTR = function(v) 	return ({ [0] = "INT", "NUM", "CHAR" })[v]
end,
}

local function operands()
	local list = {}
	for op, text in OPERANDS:gmatch "(%S+) (%S+)" do list[op] = text end
	return list
end

local function constant_text(vm, one, ref)
	local ins = ir.at(vm, one, ref)
	if not ins then return "?" .. ref end
	if ins.name == "KINT" then return ("%+d"):format(ins.i) end
	if ins.name == "KNULL" then return "NULL" end
	if ins.name == "KPTR" or ins.name == "KKPTR" then
		return "[" .. xcore.hex(vm.layout.gc64 and vm.t:u64(ins.at + 8) or ins.word & 0xffffffff) .. "]"
	end
	if ins.name == "KINT64" then return ("%d"):format(vm.t:u64(ins.at + 8)) end
	if ins.name == "KNUM" then return ("%+.14g"):format(vm.t:f64(ins.at + 8)) end
	if ins.name == "KPRI" then return TYPES[ins.type & TYPE] or "?" end
	local bits = ir.constant(vm, one, ref)
	if not bits then return ins.name end
	if ir.is_function(vm, one, ref) then return ir.function_name(vm, bits & (1 << 47) - 1) end
	local ok, text = pcall(require("luajit.value").show, vm, bits, 30)
	return ok and text or ins.name
end

-- A reference for display: the number of an instruction, or the constant.
function ir.reference(vm, one, ref)
	if ref >= BIAS then return ("%04d"):format(ref - BIAS) end
	local ok, text = pcall(constant_text, vm, one, ref)
	if ok then return text end
	return "?"
end

local function operand(vm, one, ins, kind, value, other)
	if kind == "r" then return ir.reference(vm, one, value) end
	if kind ~= "l" then return nil end
	local literal = other and LITERALS[ins.name]
	if literal then return literal(value, vm) or "#" .. value end
	return "#" .. value
end

-- Was it sunk to the exits, which create it when they are taken?
function ir.is_sunk(ins)
	return ins.reg == SINK or ins.reg == SUNK
end

-- The register, the spill slot, or that it was never created ("sunk" to the exits, with the instruction).
local function place(vm, ins)
	if ins.reg == SINK or ins.reg == SUNK then
		local store = ins.spill ~= 0 and ins.spill ~= 0xff
		return store and ("{%04d"):format(ins.ref - BIAS - ins.spill) or "{sink"
	end
	if ins.spill ~= 0 then return ("[%x]"):format(ins.spill * 4) end
	if ins.reg & NO_REGISTER == 0 then return ir.register(vm, ins.reg) end
end

-- The arguments of a call: a chain of CARG to the left.
local function arguments(vm, one, ref)
	local list = {}
	for _ = 1, 64 do
		local ins = ref >= BIAS and ir.at(vm, one, ref)
		if not ins or ins.name ~= "CARG" then
			if ref ~= BIAS - 1 then table.insert(list, 1, ir.reference(vm, one, ref)) end -- no argument at all
			break
		end
		table.insert(list, 1, ir.reference(vm, one, ins.op2))
		ref = ins.op1
	end
	return "(" .. table.concat(list, " ") .. ")"
end

local GENERAL = { [0] = "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" }

-- The name of one of the assembler's registers (lj_target_x86.h, lj_target_arm64.h).
function ir.register(vm, number)
	if vm.t.arch == "x86-64" then
		if number >= 16 then return "xmm" .. number - 16 end
		return GENERAL[number] or "r" .. number
	end
	if vm.t.arch == "aarch64" then return number >= 32 and "d" .. number - 32 or "x" .. number end
	return "#" .. number
end

local INTEGER, NUMBER = 19, 14

-- The location of a value, and its text if `machine` (a frame) still has it there.
function ir.held(vm, one, ref, machine)
	local ins = ir.at(vm, one, ref)
	local where = ins and place(vm, ins)
	if not where or ins.reg == SINK or ins.reg == SUNK then return where and "no place: it was never made" end
	local kind, spilled = ins.type & TYPE, ins.spill ~= 0
	local bits
	if spilled and machine and machine.sp then
		bits = vm.t:u64(machine.sp + 4 * ins.spill)
	elseif machine and not spilled and not where:find "^xmm" then
		bits = machine:register(where)
	end
	if spilled then where = "the trace's stack" end
	if not bits then return where end
	if kind == INTEGER then return where, tostring((bits & 0xffffffff ~ 0x80000000) - 0x80000000) end
	if kind == NUMBER and spilled then
		return where, ("%.14g"):format((string.unpack("<d", string.pack("<i8", bits))))
	end
	if kind >= 4 and kind <= 12 and kind ~= 5 and kind ~= 9 then
		return where, require("luajit.value").show(vm, tagged(vm, kind, bits))
	end
	return where
end

-- Which of its operands are references: two booleans.
function ir.operands_of(ins)
	ir.operands = ir.operands or operands()
	local kinds = ir.operands[ins.name] or "rr"
	return kinds:sub(1, 1) == "r", kinds:sub(2, 2) == "r"
end

-- One instruction as texts: flags, type, left, right, register.
function ir.describe(vm, one, ins)
	ir.operands = ir.operands or operands()
	local kinds, is_call = ir.operands[ins.name] or "rr", ins.name:find "^CALL"
	local what = {
		flags = (ins.type & GUARD ~= 0 and ">" or "") .. (ins.type & PHI ~= 0 and "+" or ""), type = TYPES[ins.type & TYPE] or "?",
		left = is_call and arguments(vm, one, ins.op1) or operand(vm, one, ins, kinds:sub(1, 1), ins.op1, false), right = operand(vm, one, ins, kinds:sub(2, 2), ins.op2, true),
		register = place(vm, ins),
	}
	if ins.name == "LOOP" or ins.name == "NOP" then what.type, what.register = nil, nil end
	return what
end

ir.BIAS, ir.TYPE, ir.GUARD, ir.NO_REGISTER = BIAS, TYPE, GUARD, NO_REGISTER
return ir
