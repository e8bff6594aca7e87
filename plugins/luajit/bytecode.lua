-- bytecode: instructions of a prototype, decoded (lj_bc.h).
--
--	31      24      16       8       0
--	| B      | C     | A      | OP    |
--	| D              | A      | OP    |
--
-- Numbers of instructions come from the enum of the build; the meaning of operands goes by name.
local xcore = require "xcore"
local layout = require "luajit.layout"
local proto = require "luajit.proto"
local tvalue = require "luajit.tvalue"

local bytecode = {}
local Code = {}
Code.__index = Code

-- Name, operand A, operand B, operand C or D, metamethod ("-": none).
local MODES = [[
ISLT var - var lt; ISGE var - var lt; ISLE var - var le; ISGT var - var le; ISEQV var - var eq; ISNEV var - var eq; ISEQS var - str eq;
ISNES var - str eq; ISEQN var - num eq; ISNEN var - num eq; ISEQP var - pri eq; ISNEP var - pri eq; ISTC dst - var -; ISFC dst - var -;
IST - - var -; ISF - - var -; ISTYPE var - lit -; ISNUM var - lit -; MOV dst - var -; NOT dst - var -; UNM dst - var unm;
LEN dst - var len; ADDVN dst var num add; SUBVN dst var num sub; MULVN dst var num mul; DIVVN dst var num div; MODVN dst var num mod;
ADDNV dst var num add; SUBNV dst var num sub; MULNV dst var num mul; DIVNV dst var num div; MODNV dst var num mod; ADDVV dst var var add;
SUBVV dst var var sub; MULVV dst var var mul; DIVVV dst var var div; MODVV dst var var mod; POW dst var var pow; CAT dst rbase rbase concat;
KSTR dst - str -; KCDATA dst - cdata -; KSHORT dst - lits -; KNUM dst - num -; KPRI dst - pri -; KNIL base - base -; UGET dst - uv -;
USETV uv - var -; USETS uv - str -; USETN uv - num -; USETP uv - pri -; UCLO rbase - jump -; FNEW dst - func gc; TNEW dst - lit gc;
TDUP dst - tab gc; GGET dst - str index; GSET var - str newindex; TGETV dst var var index; TGETS dst var str index; TGETB dst var lit index;
TGETR dst var var index; TSETV var var var newindex; TSETS var var str newindex; TSETB var var lit newindex; TSETM base - num newindex;
TSETR var var var newindex; CALLM base lit lit call; CALL base lit lit call; CALLMT base - lit call; CALLT base - lit call;
ITERC base lit lit call; ITERN base lit lit call; VARG base lit lit -; ISNEXT base - jump -; RETM base - lit -; RET rbase - lit -;
RET0 rbase - lit -; RET1 rbase - lit -; FORI base - jump -; JFORI base - jump -; FORL base - jump -; IFORL base - jump -;
JFORL base - lit -; ITERL base - jump -; IITERL base - jump -; JITERL base - lit -; LOOP rbase - jump -; ILOOP rbase - jump -;
JLOOP rbase - lit -; JMP rbase - jump -; FUNCF rbase - - -; IFUNCF rbase - - -; JFUNCF rbase - lit -; FUNCV rbase - - -;
IFUNCV rbase - - -; JFUNCV rbase - lit -; FUNCC rbase - - -; FUNCCW rbase - - -;
]]

local function modes()
	local list = {}
	for op, a, b, c, mm in MODES:gmatch "(%S+) (%S+) (%S+) (%S+) (%S-);" do
		local function mode(text) return text ~= "-" and text or nil end
		list[op] = { a = mode(a), b = mode(b), c = mode(c), mm = mode(mm) }
	end
	return list
end

-- The instructions of a prototype.
function bytecode.of(vm, pt)
	bytecode.modes = bytecode.modes or modes()
	return setmetatable(
		{ vm = vm, pt = pt, begin = proto.code(pt), count = pt.sizebc, names = vm:enum("BC_ISLT", "BC_") },
		Code
	)
end

-- A word as an instruction.
function bytecode.decode(names, word)
	local op = word & 0xff
	local name = names[op]
	local mode = bytecode.modes[name] or {}
	return {
		op = op, name = name or "#" .. op, a = word >> 8 & 0xff, b = word >> 24 & 0xff, c = word >> 16 & 0xff, d = word >> 16 & 0xffff,
		mode_a = mode.a, mode_b = mode.b, mode_c = mode.c, metamethod = mode.mm, word = word, known = mode.a ~= nil or mode.c ~= nil,
	}
end

-- The instruction at a position, counted from 0, the function's header; nil outside.
function Code:at(pos)
	if pos < 0 or pos >= self.count then return nil end
	return bytecode.decode(self.names, self.vm.t:u32(self.begin + 4 * pos))
end

-- Object constants are before the pointer `k`, numbers after it: the address of an object; nil if there is none.
function Code:object(index)
	if index >= self.pt.sizekgc then return nil end
	local at = self.pt.k[self.vm.layout.mref] - (index + 1) * self.vm.layout.ref_size
	return self.vm.layout.gc64 and self.vm.t:u64(at) or self.vm.t:u32(at)
end

-- The 64 bits of a number.
function Code:number(index)
	if index >= self.pt.sizekn then return nil end
	return self.vm.t:u64(self.pt.k[self.vm.layout.mref] + 8 * index)
end

-- A constant that is a string.
function Code:string(index)
	local addr = self:object(index)
	if not addr or self.vm.t:value("GChead", addr).gct ~= layout.STRING then return nil end
	return self.vm:string(addr, 4096)
end

-- ---- a listing ----

local PRIMITIVE = { [0] = "nil", "false", "true" }

local function number_text(vm, bits)
	local _, number = tvalue.decode(vm, bits)
	return math.type(number) == "integer" and tostring(number) or ("%.14g"):format(number)
end

local EXPLAIN = {
	str = function(code, d)
		local text = code:string(d)
		return text and require("luajit.value").quote(text, 40)
	end,
	num = function(code, d)
		local bits = code:number(d)
		return bits and number_text(code.vm, bits)
	end,
	pri = function(_, d) return PRIMITIVE[d] end,
	uv = function(code, d) return proto.upvalues(code.vm, code.pt)[d + 1] end,
	func = function(code, d)
		local pt = code.vm.t:value("GCproto", code:object(d))
		return ("%s:%d"):format(proto.source(code.vm, pt), pt.firstline)
	end,
	tab = function(code, d) return "table " .. xcore.hex(code:object(d)) end,
	cdata = function(code, d) return require("luajit.value").show(code.vm, code:cdata_bits(d)) end,
}

function Code:cdata_bits(index)
	local addr = self:object(index)
	return self.vm.layout.gc64 and (~layout.CDATA << 47 | addr) or (~layout.CDATA & 0xffffffff) << 32 | addr
end

local function explain(code, mode, operand)
	if not EXPLAIN[mode] then return nil end
	local ok, text = pcall(EXPLAIN[mode], code, operand)
	return ok and text or nil
end

-- The target of a jump, or nil.
function bytecode.target(pos, ins)
	return ins.mode_c == "jump" and pos + 1 + ins.d - 0x8000 or nil
end

-- An instruction's operands and their meanings, as two texts.
function Code:operands(pos, ins)
	if not ins.known and ins.op ~= 0 and not bytecode.modes[ins.name] then
		return ("%3d %5d"):format(ins.a, ins.d), nil
	end
	local parts, notes = { ins.mode_a and ("%3d"):format(ins.a) or "   " }, {}
	if ins.mode_a == "uv" then notes[1] = explain(self, "uv", ins.a) end
	local target = bytecode.target(pos, ins)
	if target then
		parts[2] = ("=> %04d"):format(target)
	elseif ins.mode_b then
		parts[2] = ("%3d %3d"):format(ins.b, ins.c)
		notes[#notes + 1] = explain(self, ins.mode_c, ins.c)
	elseif ins.mode_c then
		local d = ins.mode_c == "lits" and ins.d > 32767 and ins.d - 65536 or ins.d
		parts[2] = ("%3d"):format(d)
		notes[#notes + 1] = explain(self, ins.mode_c, ins.d)
	end
	return table.concat(parts, " "), #notes > 0 and table.concat(notes, " ; ") or nil
end

return bytecode
