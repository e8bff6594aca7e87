-- inlining: the function and line of a trace between two of its snapshots.
--
-- A snapshot gives an earlier position of the trace; entering and leaving inlined functions leaves no mark in the
-- machine code. Three steps lead from an instruction to a line: the IR instruction that it belongs to (emitted.lua),
-- the possible paths of the bytecode between the snapshots (replay.lua), and the bytecode that made the IR
-- instruction (origin.lua). Each step returns all possibilities; a single remaining one is proved.
local xcore = require "xcore"
local damage = require "lib.damage"
local emitted = require "luajit.emitted"
local frame = require "luajit.frame"
local ir = require "luajit.ir"
local layout = require "luajit.layout"
local origin = require "luajit.origin"
local proto = require "luajit.proto"
local replay = require "luajit.replay"
local slots_of = require "luajit.slots"
local snapshot = require "luajit.snapshot"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"

local inlining = {}

local LARGE = 1024 -- entries of a table of metatables, or of methods
local UNKNOWN = "unknown: the trace keeps it in no known place"

-- ---- functions known to the trace ----

-- The Lua functions among its constants, as a set of addresses.
local function functions_of(vm, one)
	local set = {}
	for _, addr in ipairs(ir.function_constants(vm, one)) do
		local fn = vm.t:value("GCfuncL", addr)
		if fn.gct == layout.FUNCTION and fn.ffid == 0 then set[addr] = true end
	end
	return set
end

-- Does a table have one of the functions as a metamethod?
local function calls(vm, addr, functions)
	local found, seen = false, 0
	tables.at(vm, addr):each(function(key, bits)
		seen = seen + 1
		local tag, value = tvalue.decode(vm, bits)
		if tag == layout.FUNCTION and functions[value] then
			local kind, name = tvalue.decode(vm, key)
			found = kind == layout.STRING and vm:string(name, 2) == "__"
		end
		return found or seen > LARGE
	end)
	return found or seen > LARGE
end

-- The metatables that a trace read from tables and userdata, those of C types and those of basic types.
local function metatables_of(vm, one, all)
	local set, fields = {}, vm:enum("IRFL_STR_LEN", "IRFL_")
	for ref = ir.BIAS + 1, one.nins - 1 do
		local ins = all[ref]
		local left = (ins.name == "EQ" or ins.name == "NE") and ins.op1 >= ir.BIAS and all[ins.op1]
		local right = left and ins.op2 < ir.BIAS and ir.at(vm, one, ins.op2)
		if right and right.name == "KGC" and right.type & ir.TYPE == layout.TABLE and (fields[left.op2] or "META"):find "META$" then
			set[ir.object(vm, one, ins.op2)] = true
		end
	end
	for i = 0, #vm.g.gcroot - 1 do
		local addr = vm.g.gcroot[i][vm.layout.ref]
		if addr ~= 0 and vm.t:u8(addr + xcore.offsetof("GChead", "gct")) == layout.TABLE then set[addr] = true end
	end
	local of_types = vm.ctypes and xcore.addr(vm.ctypes.miscmap) or 0
	if of_types ~= 0 then
		tables.at(vm, of_types):each(function(_, bits)
			local tag, addr = tvalue.decode(vm, bits)
			if tag == layout.TABLE then set[addr] = true end
		end)
	end
	return set
end

-- Metamethods are called by instructions that do not look like calls.
local function has_metamethods(vm, one, all, functions)
	for addr in pairs(metatables_of(vm, one, all)) do
		if calls(vm, addr, functions) then return true end
	end
	return false
end

-- ---- places ----

local function place_at(vm, one, number, base)
	local snap = snapshot.read(vm, one, number)
	local slots, inner = snapshot.slots(vm, one, snap, base)
	local list = frame.inlined(vm, slots, inner - 8, base - 8)
	return list and { snap = snap, pc = snap.pc, ref = snap.ref, base = base, list = list }
end

-- Collects the possible positions of a step, or gives up.
local function add_steps(run, from, way, piece, wanted, out)
	if not wanted then
		local slots = replay.slots(run, from)
		for i, step in ipairs(way) do
			out[#out + 1] = { frame = step.frame, pos = step.pos, slots = slots_of.copy(slots) }
			replay.step(run, slots, way, i)
		end
		return true
	end
	local steps, why = origin.steps(run, from, way, piece.to, wanted)
	if not steps then return why == "none" end -- it did not take this path
	for i, slots in pairs(steps) do out[#out + 1] = { frame = way[i].frame, pos = way[i].pos, slots = slots } end
	return true
end

-- The piece in which instructions were recorded: a fused load is at its user, which can be after a snapshot.
local function recorded_in(vm, one, piece, refs)
	while refs and piece and refs[1] < piece.from do
		piece = piece.number > 0 and snapshot.piece(vm, one, piece.number - 1, 0)
	end
	return piece and (not refs or refs[#refs] < piece.to) and piece or nil
end

-- All steps, on all paths, that can have made the instructions `refs`; any step if that is unknown.
local function steps_of(run, from, ways, piece, refs)
	local list, wanted = {}, nil
	for _, ref in ipairs(refs or {}) do
		wanted = wanted or {}
		wanted[ref] = true
	end
	for _, way in ipairs(ways) do
		if not add_steps(run, from, way, piece, wanted, list) then return steps_of(run, from, ways, piece) end
	end
	return (#list > 0 or not refs) and list or steps_of(run, from, ways, piece)
end

local function candidates(vm, one, all, piece, base, refs)
	local functions, start = functions_of(vm, one), vm.t:value("GCproto", one.startpt[vm.layout.ref])
	for ref = ir.BIAS + 1, one.nins - 1 do
		if all[ref].name == "RETF" then return nil end
	end
	if has_metamethods(vm, one, all, functions) then return nil end
	local between, from, to = {}, nil, place_at(vm, one, piece.next, base)
	for number = piece.number, 0, -1 do
		from = place_at(vm, one, number, base)
		if not from then return nil end
		if not replay.is_comparison(all, from.ref) then break end
		table.insert(between, 1, from)
	end
	if not to then return nil end
	local run = replay.new(vm, one, all, functions, proto.position(start, one.startpc[vm.layout.mref]))
	local ways = replay.ways(run, from, between, to)
	return ways and steps_of(run, from, ways, piece, refs), ways
end

-- ---- the answer ----

local function same_frame(a, b)
	return a.at == b.at
		and a.func == b.func
		and (a.below == b.below or a.below and b.below and a.link == b.link and same_frame(a.below, b.below) or false)
end

local function line_of(vm, one)
	return proto.line(vm, one.frame.code.pt, one.pos)
end

local function only(value)
	local ref = value and value.exact and next(value.refs)
	return ref and next(value.refs, ref) == nil and ref or nil
end

local function same_value(a, b)
	if a == b then return true end
	return a
			and b
			and a.exact
			and b.exact
			and a.bits == b.bits
			and a.at == b.at
			and only(a) == only(b)
			and (a.bits or a.at or only(a))
			and true
		or false
end

-- Values of slots on which all agree.
local function merged(list)
	local map = slots_of.copy(list[1].slots)
	for i = 2, #list do
		for at, value in pairs(list[i].slots) do
			if map[at] == nil or not same_value(map[at], value) then map[at] = false end
		end
		for at in pairs(map) do
			if list[i].slots[at] == nil then map[at] = false end
		end
	end
	return map
end

-- A value as a word, or as a text that gives its place.
local function shown(vm, one, value, machine)
	if not value or not value.exact then return UNKNOWN end
	if value.at then return vm.t:u64(value.at) end
	if value.bits then return value.bits end
	local ref = only(value)
	return ref and snapshot.held(vm, one, ref, machine) or UNKNOWN
end

-- The words of the frames at a step: those of a snapshot, with the changes since then.
local function words(vm, one, known, step, values, machine)
	local out, fr2 = slots_of.copy(known.slots), vm.layout.fr2
	for at, value in pairs(values) do out[at] = shown(vm, one, value, machine) end
	local at = step.frame
	while at.below do
		if at.at > known.base - 8 then
			for n = 0, at.code.pt.framesize do
				local slot = at.at + 8 * (1 + n)
				if values[slot] == nil then out[slot] = UNKNOWN end
			end
		end
		at = at.below
	end
	at = step.frame
	while at.below do
		if fr2 == 1 then
			out[at.at - 8], out[at.at] = tvalue.encode(vm, layout.FUNCTION, at.func), at.link
		else
			out[at.at] = at.func | at.link << 32
		end
		at = at.below
	end
	return out
end

local function names_of(vm, ways)
	local functions = {}
	for _, way in ipairs(ways) do
		for _, step in ipairs(way) do
			if step.frame.below then functions[#functions + 1] = step.frame.func end
		end
	end
	return ir.function_names(vm, functions)
end

-- Lines as "12 to 14".
local function lines_of(vm, list)
	local least, most
	for _, one in ipairs(list) do
		local line = line_of(vm, one)
		if line then least, most = math.min(least or line, line), math.max(most or line, line) end
	end
	return least, most
end

-- The contents of a piece's snapshot, as `known` of inlining.find.
local function known_at(vm, one, piece, known, machine)
	local slots, inner = snapshot.slots(vm, one, snapshot.read(vm, one, piece.number), known.compiled_from + 8, machine)
	return { base = inner, slots = slots, compiled_from = known.compiled_from }
end

local function find(vm, one, number, known, machine, code, pc)
	local all, piece = ir.all(vm, one), snapshot.piece(vm, one, number, pc - code)
	if not all or not piece then return nil end
	piece.lo, piece.hi = code + piece.lo, code + piece.hi
	local refs, is_access = emitted.by(vm, one, all, piece, pc)
	local made = (refs or not is_access) and recorded_in(vm, one, piece, refs)
	if not made then return nil end
	if made ~= piece then known = known_at(vm, one, made, known, machine) end
	local list, ways = candidates(vm, one, all, made, known.compiled_from + 8, refs)
	if not list or #list == 0 then return nil end
	for i = 2, #list do
		if not same_frame(list[i].frame, list[1].frame) then return { names = names_of(vm, ways) } end
	end
	local least, most = lines_of(vm, list)
	table.sort(list, function(a, b) return a.pos < b.pos end)
	local step = list[1]
	return {
		base = step.frame.at + 8, pc = step.frame.code.begin + 4 * (step.pos + 1), from = least, to = most, names = {},
		slots = words(vm, one, known, step, merged(list), machine),
	}
end

-- The position of a trace; `known` is the content of its snapshot (machine.lua): base, slots, compiled_from. Returns
-- { base, pc, slots, from, to (lines) }, or { names = possible functions }; nil if nothing is known.
function inlining.find(vm, one, number, known, machine, code, pc)
	return (damage.try(find, vm, one, number, known, machine, code, pc))
end

return inlining
