-- emitted: the IR instruction of a trace that an instruction of its machine code belongs to.
--
-- A trace does not record this. But the assembler processes the IR in order, so the memory accesses of a piece of
-- code and those of its IR are two lists in the same order, and both ends of both are known (snapshots). The number
-- of accesses that an IR instruction makes is known within bounds, and so are the registers with the parts of its
-- address (lj_asm.c, lj_asm_x86.h). A load without a register was fused into its first user and is at the user's
-- position. The common result of all possible alignments of the two lists is proved.
local ir = require "luajit.ir"

local emitted = {}

local MOST = 400 -- accesses in a piece of code, or instructions that make some

-- ---- the machine code ----

local IGNORED = { rsp = true, esp = true, rip = true, sp = true }

-- The registers in an address, and the constant offset; nil if it is not an access of a value.
local function address_of(vm, text)
	local operand = text:match "%[(.-)%]"
	if not operand or text:find "^lea " or text:find "^nop" then return nil end
	local regs, count, disp = {}, 0, 0
	for name in operand:gmatch "%f[%w]%a%w*" do
		if IGNORED[name] or vm.layout.gc64 and name == "r14" then return nil end
		name = name:gsub("^e(%l%l)$", "r%1")
		if not regs[name] then count = count + 1 end
		regs[name] = true
	end
	if count == 0 then return nil end
	local sign, number = operand:match "([+-])%s*(0?x?%x+)$"
	if number and not operand:find "%*%d+$" then disp = math.tointeger(tonumber(number)) or 0 end
	return regs, count, sign == "-" and -disp or disp
end

-- The accesses and calls of a piece of code, and which of them has `pc`; nil, nil and whether there is one if that is
-- unknown.
local function accesses(vm, lo, hi, pc)
	local list, here = {}, nil
	for _, ins in ipairs(vm.t:disassemble(lo, hi - lo)) do
		local one
		if ins.text:find "^call" or ins.text:find "^blr?%f[%s]" then
			one = { call = true }
		else
			local regs, count, disp = address_of(vm, ins.text)
			if regs then one = { regs = regs, count = count, disp = disp } end
		end
		if one then list[#list + 1] = one end
		if pc >= ins.addr and pc < ins.addr + ins.length then
			if not one then return nil, nil, false end
			here = #list
		end
		if #list > MOST then return nil, nil, true end
	end
	return list, here, true
end

-- ---- the IR ----

-- The number of accesses of an instruction: minimum and maximum. Others may make any number up to ANY, and calls.
local MAKES = {
	XLOAD = { 1, 1 }, FLOAD = { 1, 1 }, XSTORE = { 1, 1 }, FSTORE = { 1, 1 }, ALOAD = { 1, 2 }, HLOAD = { 1, 2 }, ULOAD = { 1, 2 },
	VLOAD = { 1, 2 }, SLOAD = { 0, 2 }, ASTORE = { 1, 2 }, HSTORE = { 1, 2 }, USTORE = { 1, 2 }, HREFK = { 1, 3 }, HREF = { 0, 12 },
	UREFO = { 0, 3 }, UREFC = { 0, 3 }, TBAR = { 1, 4 }, OBAR = { 0, 4 }, AREF = { 0, 1 }, BUFHDR = { 0, 8 }, BUFPUT = { 0, 8 },
}
local ANY = 8
local NONE = {}
for name in ([[LT GE LE GT ULT UGE ULE UGT EQ NE ABC NOP BASE PVAL LOOP USE PHI RENAME BNOT BSWAP BAND BOR BXOR BSHL BSHR BSAR BROL BROR
ADD SUB MUL DIV NEG ABS LDEXP MIN MAX ADDOV SUBOV MULOV STRREF FREF CONV TOBIT CARG XBAR]]):gmatch "%S+" do 	NONE[name] = true
end
-- Parts of an address that need no access if they have no register.
local PLACES = { UREFC = true, UREFO = true, FREF = true, AREF = true, HREFK = true, ADD = true, STRREF = true }
-- A call of the allocator, then stores to the new object: header and value.
local BOX_LEAST, BOX_MOST, RETURNED = 2, 6, { ["x86-64"] = "rax", aarch64 = "x0" }
local FUSED = { XLOAD = true, FLOAD = true, ALOAD = true, HLOAD = true, ULOAD = true, VLOAD = true, SLOAD = true }

-- The single register that holds a reference's value at all times; nil if it is unknown.
local function register_of(s, ref)
	local ins = s.ir[ref]
	if not ins or ins.reg & ir.NO_REGISTER ~= 0 or ins.spill ~= 0 or s.renamed[ref] then return nil end
	return ir.register(s.vm, ins.reg)
end

-- Collects the registers that the assembler can build an address from. Returns false if they are unknown.
local function parts(s, ref, out, depth)
	if ref < ir.BIAS then
		local ins = ir.at(s.vm, s.one, ref)
		if not ins or ins.name ~= "KINT" and ins.name ~= "KINT64" then return false end
		out.disp = (out.disp or 0) + (ins.name == "KINT" and ins.i or s.vm.t:u64(ins.at + 8))
		return true
	end
	local register, ins = register_of(s, ref), s.ir[ref]
	if register then
		out.regs[register] = true
		return true
	end
	if depth > 8 or not ins or ins.reg & ir.NO_REGISTER == 0 or ins.spill ~= 0 then return false end
	if ins.name == "ADD" then return parts(s, ins.op1, out, depth + 1) and parts(s, ins.op2, out, depth + 1) end
	if ins.name == "BSHL" and ins.op2 < ir.BIAS or ins.name == "HREFK" then
		out.scaled = true
		return parts(s, ins.op1, out, depth + 1)
	end
	if ins.name == "AREF" then
		out.scaled = true
		return parts(s, ins.op1, out, depth + 1) and parts(s, ins.op2, out, depth + 1)
	end
	return false
end

local BY_REFERENCE = {
	XLOAD = true,
	XSTORE = true,
	ALOAD = true,
	HLOAD = true,
	ULOAD = true,
	ASTORE = true,
	HSTORE = true,
	USTORE = true,
}
local OF_OBJECT = { FLOAD = true, HREFK = true, TBAR = true }

-- The known parts of the address of an instruction's access: `disp` only if the address has no other part.
local function address(s, ins)
	local out = { regs = {}, disp = 0 }
	if BY_REFERENCE[ins.name] then
		if not parts(s, ins.op1, out, 0) then return nil end
	elseif OF_OBJECT[ins.name] and ins.op1 >= ir.BIAS and (ins.name ~= "HREFK" or ins.reg & ir.NO_REGISTER ~= 0) then
		local register = register_of(s, ins.op1)
		if not register then return nil end
		out.regs[register] = true
	else
		return nil
	end
	if not ins.name:find "^X" then out.disp = nil end -- unknown for a field; the tag of a value is above it
	out.count = 0
	for _ in pairs(out.regs) do out.count = out.count + 1 end
	if out.scaled then out.disp = nil end
	return out
end

-- The first instruction that uses a value: a load without a register moved there.
local function user_of(s, ref)
	for i = ref + 1, s.one.nins - 1 do
		local ins = s.ir[i]
		local first, second = ir.operands_of(ins)
		if first and ins.op1 == ref or second and ins.op2 == ref then return i end
	end
end

local function add(list, s, ins, at, least, most, call)
	if at >= s.from and at < s.to then
		if at < s.piece.from or at >= s.piece.to then least = 0 end -- it may be outside
		list[#list + 1] = { ref = ins.ref, at = at, least = least, most = most, call = call,
			returned = RETURNED[s.vm.t.arch], address = not call and address(s, ins) or nil,
			slot = ins.name == "SLOAD" and 8 * (ins.op1 - 1 - s.vm.layout.fr2) or nil }
	end
end

-- Is an address a constant in the code? address_of does not handle such an access.
local function is_fixed(s, ref, depth)
	if ref < ir.BIAS then return true end
	local ins = s.ir[ref]
	if not ins or not PLACES[ins.name] or ins.reg & ir.NO_REGISTER == 0 or depth > 8 then return false end
	local _, second = ir.operands_of(ins)
	return is_fixed(s, ins.op1, depth + 1) and (not second or is_fixed(s, ins.op2, depth + 1))
end

-- A trace that allocates calls the collector at its beginning and at the beginning of its loop (lj_asm.c,
-- asm_gc_check).
local function add_collector(list, at)
	list[#list + 1] = { ref = 0, at = at, least = 0, most = 1, call = "only" }
end

-- The instructions that make accesses in this piece, in the order of the accesses.
local function makers(s)
	local list = {}
	if s.piece.number == 0 then add_collector(list, s.from) end
	for ref = ir.BIAS + 1, s.to - 1 do
		local ins = s.ir[ref]
		local makes = MAKES[ins.name]
		local in_place = ref >= s.from and not ir.is_sunk(ins)
		local loose = FUSED[ins.name] and ins.reg & ir.NO_REGISTER ~= 0 and ins.spill == 0
		if loose then
			-- A guard is at its own position, its value at the position of its use.
			local guard = ins.type & ir.GUARD ~= 0
			if guard and in_place then add(list, s, ins, ref, is_fixed(s, ins.op1, 0) and 0 or makes[1], makes[2]) end
			local user = user_of(s, ref)
			if user then add(list, s, ins, user, 0, 1) end
		elseif makes and in_place then
			local constant = ins.name ~= "SLOAD" and is_fixed(s, ins.op1, 0)
			add(list, s, ins, ref, constant and 0 or makes[1], makes[2])
		elseif in_place and ins.name == "LOOP" then
			add_collector(list, ref)
		elseif in_place and ins.name == "CNEWI" then
			add(list, s, ins, ref, BOX_LEAST, BOX_MOST, "boxes")
		elseif in_place and not makes and not NONE[ins.name] then
			add(list, s, ins, ref, 0, ANY, "may")
		end
	end
	table.sort(list, function(a, b)
		if a.at ~= b.at then return a.at < b.at end
		return a.ref < b.ref
	end)
	return list
end

-- ---- the alignment ----

local function same_registers(a, b)
	if a.count ~= b.count then return false end
	for name in pairs(a.regs) do
		if not b.regs[name] then return false end
	end
	return true
end

local function can(maker, access)
	if access.call then return maker.call ~= nil end
	if maker.call == "only" then return false end
	if maker.call == "boxes" then return access.count == 1 and access.regs[maker.returned] end
	local known = maker.address
	-- A slot is at a known offset from the register with the stack's base; its tag is in the upper half.
	if maker.slot then return access.count == 1 and (access.disp == maker.slot or access.disp == maker.slot + 4) end
	if not known then return true end
	if known.count == 0 then return true end -- a constant address, from the register that it was loaded into
	return same_registers(known, access) and (not known.disp or known.disp == access.disp)
end

-- reach[j][i]: the first i accesses can be those of the first j makers.
local function forwards(makes, list)
	local reach = { [0] = { [0] = true } }
	for j, maker in ipairs(makes) do
		local set = {}
		for i in pairs(reach[j - 1]) do
			if maker.least == 0 then set[i] = true end
			for n = 1, maker.most do
				local access = list[i + n]
				if not access or not can(maker, access) then break end
				if n >= maker.least then set[i + n] = true end
			end
		end
		reach[j] = set
	end
	return reach
end

-- The makers that the access `here` can belong to if every access belongs to a maker.
local function candidates(makes, list, here)
	local reach, found = forwards(makes, list), {}
	local rest = { [#list] = true } -- the number left for later ones
	for j = #makes, 1, -1 do
		local maker, before = makes[j], {}
		for i in pairs(reach[j - 1]) do
			for n = 0, maker.most do
				local access = n > 0 and list[i + n]
				if n > 0 and (not access or not can(maker, access)) then break end
				if n >= maker.least and rest[i + n] then
					before[i] = true
					if i < here and i + n >= here then found[maker.ref] = true end
				end
			end
		end
		rest = before
	end
	return found
end

-- References of the IR instructions that the machine instruction at `pc` can belong to, in order; nil if nothing is
-- known, and whether it makes an access. piece: from snapshot.piece, with addresses; all: the instructions (ir.all).
function emitted.by(vm, one, all, piece, pc)
	local s = { vm = vm, one = one, ir = all, from = piece.first, to = piece.last, renamed = {}, piece = piece }
	for ref = ir.BIAS + 1, one.nins - 1 do
		if all[ref].name == "RENAME" then s.renamed[all[ref].op1] = true end
	end
	local list, here, is_access = accesses(vm, piece.lo, piece.hi, pc)
	if not here then return nil, is_access end
	local makes = makers(s)
	if #makes > MOST then return nil, true end
	local found = {}
	for ref in pairs(candidates(makes, list, here)) do found[#found + 1] = ref end
	table.sort(found)
	return #found > 0 and found or nil, true
end

return emitted
