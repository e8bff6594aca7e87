-- origin: the bytecode of a path (replay.lua) that made an IR instruction.
--
-- The recorder makes IR instructions in sequence, so along a path the ones that touch memory are in the same order as
-- the bytecode instructions that index, load and store. Not each of these makes one: repeated loads are reused, and
-- invariant loads move before the loop. So all assignments are tried in which each IR instruction could have been
-- made at its place: by an instruction of its kind, with an address that follows from the values that the instruction
-- uses. The common result of all assignments is proved.
local ir = require "luajit.ir"
local replay = require "luajit.replay"
local slots_of = require "luajit.slots"

local origin = {}

local TRIES = 8000
local LARGE = 100000 -- steps times instructions
local DEEP = 64
local CDATA, FLOAT, NUMBER = 10, 13, 14
local VOLATILE = 2 -- a flag of XLOAD
local ONCE = 0xb0000 -- JIT_F_OPT_FOLD, _CSE, _FWD (lj_jit.h): with all of them nothing is loaded twice

local function set(words)
	local out = {}
	for word in words:gmatch "%S+" do out[word] = true end
	return out
end

local INDEX, STORE = set "TGETV TGETS TGETB TGETR", set "TSETV TSETS TSETB TSETR TSETM"
local USET = set "USETV USETS USETN USETP"
local CALL = set "CALL CALLM CALLT ITERC ITERN"
-- The instructions to assign: those that touch memory that Lua code names.
local DEALT = set "XLOAD XSTORE ALOAD HLOAD ASTORE HSTORE ULOAD USTORE VLOAD CALLXS"
local LOADS = set "XLOAD ALOAD HLOAD ULOAD VLOAD"
local TABLES = set "ALOAD HLOAD ASTORE HSTORE AREF HREF HREFK NEWREF TBAR"
local OPAQUE = set "SLOAD PHI CNEW TNEW TDUP SNEW XSNEW CALLN CALLA CALLL CALLS CALLXS BUFSTR TOSTR LOOP BASE PVAL"
local NEVER = set "MOV KSTR KCDATA KSHORT KNUM KPRI KNIL JMP FUNCF IFUNCF JFUNCF RET RET0 RET1 LOOP ILOOP IST ISF"

-- ---- data flow ----

local follows

-- Does it follow from constants alone, like lookups through a metatable?
local function is_fixed(s, ref)
	local known = s.fixed[ref]
	if known == nil then
		known = follows(s, s.run.ir[ref].op1, {}, "all")
		s.fixed[ref] = known
	end
	return known
end

-- Does an address follow from references? `loads`: also through loads, from fixed "tables" or from "all". Also
-- whether it uses any of them.
function follows(s, ref, from, loads)
	local seen, touched = {}, false
	local function walk(at, depth)
		if from[at] then
			touched = true
			return true
		end
		if at < ir.BIAS or seen[at] then return true end
		local ins = s.run.ir[at]
		if depth > DEEP or not ins or OPAQUE[ins.name] then return false end
		if LOADS[ins.name] and loads ~= "all" and not (loads == "tables" and TABLES[ins.name] and is_fixed(s, at)) then
			return false
		end
		seen[at] = true
		local first, second = ir.operands_of(ins)
		return (not first or walk(ins.op1, depth + 1)) and (not second or walk(ins.op2, depth + 1))
	end
	return walk(ref, 0), touched
end

-- Collects the inputs of a value into a set: an instruction on it may be folded into one on its parts
-- (lj_opt_fold.c), but never through a load.
local function add_parts(s, ref, set, depth)
	if set[ref] or ref < ir.BIAS then return end
	set[ref] = true
	local ins = s.run.ir[ref]
	if not ins or OPAQUE[ins.name] or LOADS[ins.name] or depth > DEEP then return end
	local first, second = ir.operands_of(ins)
	if first then add_parts(s, ins.op1, set, depth + 1) end
	if second then add_parts(s, ins.op2, set, depth + 1) end
end

-- Could an instruction with these values have made this one, by its address? `must`: it depends on the first of them.
local function fits(s, ins, inputs, must, loads)
	local from, known = {}, true
	for _, value in ipairs(inputs) do
		if not value then return true end
		for ref in pairs(value.refs) do add_parts(s, ref, from, 0) end
		if value.loads then loads = "all" end
		known = known and value.exact
	end
	local can, touched = follows(s, ins.op1, from, loads)
	local base = inputs[1]
	if can and must and known and base and next(base.refs) and not base.bits then return touched end
	return can
end

-- A number in a cdata object, or a reference to one: loaded by operators on cdata.
local function is_boxed(s, ins)
	local address = ins.op1 >= ir.BIAS and s.run.ir[ins.op1]
	if not address then return true end
	if address.name == "FLOAD" then return true end
	local of = address.name == "ADD" and address.op1 >= ir.BIAS and s.run.ir[address.op1]
	return of and of.type & ir.TYPE == CDATA or false
end

-- ---- what makes what ----

local by = {}

function by.XLOAD(s, step, ins, inputs)
	local name = step.ins.name
	if CALL[name] or STORE[name] then return fits(s, ins, inputs, false, "all") end
	if INDEX[name] then return fits(s, ins, inputs, true) end
	return step.ins.metamethod ~= nil and is_boxed(s, ins) and fits(s, ins, inputs, false)
end

function by.XSTORE(s, step, ins, inputs)
	local name = step.ins.name
	return CALL[name] or STORE[name] and fits(s, ins, inputs, false)
end

local function of_table(s, step, ins, inputs)
	local name = step.ins.name
	if name == "GGET" or name == "GSET" or CALL[name] or name == "ISNEXT" or name == "TSETM" then return true end
	return (INDEX[name] or STORE[name]) and fits(s, ins, inputs, false, "tables")
end
for name in pairs(TABLES) do by[name] = of_table end

function by.ULOAD(_, step) return step.ins.name == "UGET" end
function by.USTORE(_, step) return USET[step.ins.name] or false end
function by.UREFO(_, step) return step.ins.name == "UGET" or USET[step.ins.name] or false end
by.UREFC, by.OBAR = by.UREFO, by.UREFO
function by.VLOAD(_, step) return step.ins.name == "VARG" or CALL[step.ins.name] or false end
function by.CALLXS(_, step) return CALL[step.ins.name] or false end

-- A call of a Lua function makes no memory access.
local function can_make(s, i, ins, inputs)
	local step, following = s.way[i], s.way[i + 1]
	local name = step.ins.name
	if NEVER[name] then return ins.name == "SLOAD" end
	if CALL[name] and following and following.frame ~= step.frame then
		return ins.name == "SLOAD" or ins.name == "FLOAD"
	end
	if step.library and step.library:find "^math%." then return not DEALT[ins.name] end
	local rule = by[ins.name]
	return rule == nil or rule(s, step, ins, inputs) or false
end

-- The number of loads of this kind by an indexing instruction: a complex number takes two, an index may be C data; of
-- a table it is one, plus those of metatables.
local function most(s, step, ins, inputs)
	if ins.name ~= "XLOAD" then return 1 end
	local kind = ins.type & ir.TYPE
	if kind == FLOAT or kind == NUMBER then return 2 end
	local index = inputs[2]
	if not index and not step.ins.name:find "[SB]$" then return 2 end
	for ref in pairs(index and index.refs or {}) do
		if not index.exact or s.run.ir[ref].type & ir.TYPE == CDATA then return 2 end
	end
	return 1
end

-- Is it one of the counted loads?
local function is_counted(s, step, ins)
	if not INDEX[step.ins.name] then return false end
	return ins.name == "XLOAD" or (ins.name == "ALOAD" or ins.name == "HLOAD") and not is_fixed(s, ins.ref)
end

-- ---- dealing out ----

-- A value as a text, equal for equal values. An unknown value is identified by the step that made it.
local function text_of(s, value)
	if not value then return "-" end
	local text = s.texts[value]
	if text then return text end
	local refs = {}
	for ref in pairs(value.refs) do refs[#refs + 1] = ref end
	table.sort(refs)
	text = ("%s:%s:%s%s"):format(
		table.concat(refs, ","),
		value.bits or "",
		value.exact and "=" or "~",
		value.loads and "l" or ""
	)
	if #refs == 0 and not value.bits or not value.exact then text = text .. "#" .. (s.made[value] or "") end
	s.texts[value] = text
	return text
end

-- Do several instructions represent a value? Loads from one are then also loads from the others.
local function is_many(value)
	local first = value and value.exact and next(value.refs) or nil
	return first ~= nil and next(value.refs, first) ~= nil
end

-- The common key of two equal loads; nil for other instructions, and if it is unknown.
local function signature(s, step, inputs)
	if not INDEX[step.ins.name] or s.repeats then return nil end
	local key = step.ins.name == "TGETS" and step.frame.code:object(step.ins.c)
		or step.ins.name == "TGETB" and step.ins.c
		or ""
	local parts = { step.ins.name, key }
	for _, value in ipairs(inputs) do
		local text = text_of(s, value)
		if text == "-" or text:find "#$" or is_many(value) then return nil end
		parts[#parts + 1] = text
	end
	return table.concat(parts, " ")
end

-- All state that affects the rest, as a text.
local function state_text(s, i, j, slots, before)
	local parts = {}
	for at, value in pairs(slots) do parts[#parts + 1] = at .. text_of(s, value) end
	for key, value in pairs(before) do parts[#parts + 1] = key .. text_of(s, value) end
	table.sort(parts)
	return i .. " " .. j .. " " .. table.concat(parts, " ")
end

local deal

-- Continues after step i with the instructions from j. before: results of loads, by signature; the next equal load
-- gives the same.
local function on(s, i, j, slots, made, before, key)
	local new, step = slots_of.copy(slots), s.way[i]
	replay.step(s.run, new, s.way, i, made)
	local at = step.frame.at + 8 * (1 + step.ins.a)
	local value = step.ins.mode_a == "dst" and new[at]
	if value and step.ins.name ~= "MOV" then s.made[value] = s.made[value] or i end
	if key and before[key] then
		new[at] = before[key]
	elseif key and value then
		before = slots_of.copy(before)
		before[key] = value
	end
	return deal(s, i + 1, j, new, before)
end

-- Records that a step made instructions, and the slots before it: slots that differ between assignments are unknown.
local function record(s, from, to, i, slots)
	for n = from, to do
		local steps = s.found[s.list[n]] or {}
		s.found[s.list[n]] = steps
		local known = steps[i]
		steps[i] = known and slots_of.copy(known) or slots
		for at, value in pairs(known and slots or {}) do
			if known[at] == nil or text_of(s, known[at]) ~= text_of(s, value) then steps[i][at] = false end
		end
		for at in pairs(known or {}) do
			if slots[at] == nil then steps[i][at] = false end
		end
	end
end

-- May memory have changed?
local function stores(s, i)
	local step, following = s.way[i], s.way[i + 1]
	return STORE[step.ins.name]
		or step.ins.name == "GSET"
		or CALL[step.ins.name] and not (following and following.frame ~= step.frame)
end

-- All instructions from the j-th that a step can have made. Returns whether the others can then be assigned.
local function take(s, i, j, slots, before, inputs, key)
	local step, made, loads, possible = s.way[i], {}, 0, false
	for k = j, #s.list do
		local ins = s.run.ir[s.list[k]]
		if not can_make(s, i, ins, inputs) then break end
		if is_counted(s, step, ins) then
			loads = loads + 1
			if loads > most(s, step, ins, inputs) then break end
		end
		made[#made + 1] = s.list[k]
		if on(s, i, k + 1, slots, { table.unpack(made) }, before, key) then
			possible = true
			record(s, j, k, i, slots)
		end
	end
	return possible
end

-- Can the instructions from the j-th be assigned to the steps from the i-th, by kind alone? For all i and j.
local function outlook(s)
	local way, list = s.way, s.list
	local can = { [#way + 1] = { [#list + 1] = true } }
	for i = #way, 1, -1 do
		can[i] = {}
		for j = #list + 1, 1, -1 do
			can[i][j] = can[i + 1][j] or false
			local counted, k = 0, j
			while not can[i][j] and list[k] and can_make(s, i, s.run.ir[list[k]], { false }) and counted <= 2 do
				if is_counted(s, way[i], s.run.ir[list[k]]) then counted = counted + 1 end
				k = k + 1
				can[i][j] = counted <= 2 and can[i + 1][k] or false
			end
		end
	end
	return can
end

-- Assigns the instructions from the j-th to the steps from the i-th. Returns whether that is possible.
function deal(s, i, j, slots, before)
	s.tries = s.tries + 1
	if s.tries > TRIES then error(s, 0) end
	local step = s.way[i]
	if not step then return j > #s.list end
	if not s.outlook[i][j] then return false end
	local inputs = slots_of.inputs(s.run, slots, step.frame, step.ins)
	if NEVER[step.ins.name] then return on(s, i, j, slots, nil, before) end
	local text = state_text(s, i, j, slots, before)
	if s.known[text] ~= nil then return s.known[text] end
	local key = signature(s, step, inputs)
	if stores(s, i) then before = {} end
	local possible = on(s, i, j, slots, nil, before, key)
	if not (key and before[key]) and take(s, i, j, slots, before, inputs, key) then possible = true end -- nothing is loaded twice
	s.known[text] = possible
	return possible
end

-- The steps of a path that can have made the instructions `wanted` (a set of references): a map of their numbers to
-- the slots before them; nil if no assignment or too many were found. The path's instructions reach from its start to
-- the reference `to`.
function origin.steps(run, start, way, to, wanted)
	local repeats = run.vm.J.flags & ONCE ~= ONCE
	local s = {
		run = run,
		way = way,
		list = {},
		repeats = repeats,
		tries = 0,
		found = {},
		fixed = {},
		made = {},
		texts = {},
		known = {},
	}
	for ref = start.ref, to - 1 do
		local ins = run.ir[ref]
		if wanted[ref] and ins.name == "SLOAD" then return nil, "any" end -- any instruction that uses a slot loads it
		if DEALT[ins.name] or wanted[ref] then s.list[#s.list + 1] = ref end
		if ins.name == "XLOAD" and ins.op2 & VOLATILE ~= 0 then s.repeats = true end
	end
	if #way * #s.list > LARGE then return nil, "too many" end
	s.outlook = outlook(s)
	local ok, possible = pcall(deal, s, 1, 1, replay.slots(run, start), {})
	if not ok and possible ~= s then error(possible, 0) end
	if not ok or not possible then return nil, not ok and "too many" or "none" end
	local steps = {}
	for ref in pairs(wanted) do
		for i, slots in pairs(s.found[ref] or {}) do steps[i] = slots end
	end
	return steps
end

return origin
