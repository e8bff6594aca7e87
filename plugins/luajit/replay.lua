-- replay: the bytecode from which a trace was recorded, between two of its snapshots.
--
-- The recorder took one straight path through the bytecode. Two adjacent snapshots give its positions and frames. The
-- paths from one to the other are tried: both sides of a branch, into a call, back out of it. The paths that arrive
-- are the candidates; a path that cannot be followed, or that would loop twice, ends the attempt: the result is all
-- paths, or none.
--
-- The snapshot of a comparison, or of the end of a loop, has the position that the trace does *not* take
-- (rec_comp_fixup, rec_for_loop in lj_record.c). In this case the guard is its first instruction, and slots that only
-- the other side needs are missing. So the paths begin at the last snapshot before it that is of another kind.
local bytecode = require "luajit.bytecode"
local ir = require "luajit.ir"
local layout = require "luajit.layout"
local slots_of = require "luajit.slots"

local replay = {}

local WAYS, STEPS, DEPTH, LONGEST = 64, 3000, 32, 4096

local COMPARES = {}
for name in ("ISLT ISGE ISLE ISGT ISEQV ISNEV ISEQS ISNES ISEQN ISNEN ISEQP ISNEP ISTC ISFC IST ISF"):gmatch "%S+" do
	COMPARES[name] = true
end
local LOOPS = { FORI = true, JFORI = true, FORL = true, IFORL = true, ITERL = true, IITERL = true, ISNEXT = true }
local GUARDS =
	{ LT = true, GE = true, LE = true, GT = true, ULT = true, UGE = true, ULE = true, UGT = true, EQ = true, NE = true }
-- Ends of a path that are not followed: extra arguments, results of unknown number, iterators, calls by the library.
local OUT_OF_REACH = {
	FUNCV = true,
	IFUNCV = true,
	JFUNCV = true,
	RETM = true,
	CALLMT = true,
	ITERC = true,
	FUNCC = true,
	FUNCCW = true,
}
local CALLS_BACK = { pcall = true, xpcall = true }
local NOT_ONE = { ["math.modf"] = true, ["math.frexp"] = true, ["math.randomseed"] = true }

local Replay = {}
Replay.__index = Replay

local GIVEN_UP = {}
local function give_up(why) error(setmetatable({ why = why }, GIVEN_UP), 0) end

-- ---- functions and frames ----

function Replay:code_of(func)
	local known = self.codes[func]
	if known then return known end
	local fn = self.vm.t:value("GCfuncL", func)
	if fn.gct ~= layout.FUNCTION or fn.ffid ~= 0 then give_up "no Lua function" end
	local pt = self.vm:proto_of(fn)
	if pt.gct ~= layout.PROTO or pt.sizebc > LONGEST then give_up "too long" end
	known = bytecode.of(self.vm, pt)
	self.codes[func] = known
	return known
end

local function frame_of(self, at, func, link, below)
	local depth = below and below.depth + 1 or 0
	if depth > DEPTH then give_up "too deep" end
	return { at = at, func = func, link = link, below = below, depth = depth, code = self:code_of(func) }
end

-- The frames from frame.inlined, as the innermost one.
local function chain_of(self, list)
	local inner
	for i = #list, 1, -1 do inner = frame_of(self, list[i].at, list[i].func, list[i].link, inner) end
	return inner
end

local function same(a, b)
	while a and b do
		if a == b then return true end
		if a.at ~= b.at or a.func ~= b.func or a.below and b.below and a.link ~= b.link then return false end
		a, b = a.below, b.below
	end
	return not a and not b
end

-- ---- instructions ----

-- The instruction at a position; the original if a trace replaced it.
local function instruction(self, frame, pos)
	local ins = frame.code:at(pos)
	if not ins then give_up "outside of a function" end
	local name = ins.name
	if name == "JFORL" or name == "JITERL" or name == "JLOOP" then
		local other = require("luajit.trace").get(self.vm, ins.d)
		if not other then give_up "a trace is missing" end
		local replaced = bytecode.decode(frame.code.names, other.startins)
		replaced.trace = ins.d
		return replaced
	end
	return ins
end

local function target_of(pos, ins)
	return pos + 1 + ins.d - 0x8000
end

-- The two targets of a branch; nothing for other instructions.
local function branches(frame, pos, ins)
	if COMPARES[ins.name] then
		local jump = frame.code:at(pos + 1)
		if not jump or jump.name ~= "JMP" then give_up "a comparison without a jump" end
		return pos + 2, target_of(pos + 1, jump)
	end
	if LOOPS[ins.name] then return pos + 1, target_of(pos, ins) end
end

-- Does a trace end here, because it or another trace began here?
local function closes(self, frame, pos, ins)
	if ins.trace and ins.trace == self.one.root then return true end
	return self.one.root == 0 and not frame.below and pos == self.start and (LOOPS[ins.name] or false)
end

-- ---- ways ----

-- state: frame, pos, slots, last (the steps so far, linked), count, left (results, variable in number, of the
-- previous call)
local function go(state, frame, pos)
	return { frame = frame, pos = pos, slots = state.slots, last = state.last, count = state.count }
end

local function was_here(state)
	local step = state.last
	while step and not step.counted do
		if step.pos == state.pos and step.frame == state.frame then return true end
		step = step.last
	end
end

-- The number of arguments of a call; nil if it is unknown.
local function arguments_of(state, ins)
	if ins.name == "CALLM" then return state.left and ins.c + state.left end
	return (ins.name == "CALLT" and ins.d or ins.c) - 1
end

-- Enters a Lua function, or replaces the calling frame with it.
local function enter(self, state, ins, func, arguments)
	local frame, fr2 = state.frame, self.vm.layout.fr2
	local at = frame.at + 8 * (1 + ins.a)
	local params = self:code_of(func).pt.numparams
	local key = state.pos << 48 ~ func
	local known = self.callees[frame] or {}
	self.callees[frame] = known
	if ins.name == "CALLT" then
		slots_of.shift(self, state.slots, at + 8 * (1 + fr2), frame.at + 8, math.min(arguments, params))
		known[key] = known[key] or frame_of(self, frame.at, func, frame.link, frame.below)
	else
		local back = frame.code.begin + 4 * (state.pos + 1)
		known[key] = known[key] or frame_of(self, at + 8 * fr2, func, back, frame)
	end
	for i = arguments, params - 1 do state.slots[known[key].at + 8 * (1 + i)] = slots_of.null(self) end
	return go(state, known[key], 0)
end

local function step_over(state, ins)
	slots_of.forget_results(state.slots, state.frame, ins)
	return go(state, state.frame, state.pos + 1)
end

-- The callees if the function is unknown: any function that the trace knows, or none of them.
local function call_any(self, state, ins)
	if self.clones then give_up "who is called is not known" end
	local list = {}
	for func in pairs(self.functions) do
		local one = go(state, state.frame, state.pos)
		one.slots = slots_of.copy(state.slots)
		list[#list + 1] = enter(self, one, ins, func, state.last.arguments)
	end
	if ins.name ~= "CALLT" then list[#list + 1] = step_over(state, ins) end
	return list
end

local function call(self, state, ins)
	local callee = slots_of.get(self, state.slots, state.frame.at + 8 * (1 + ins.a))
	local func, is_lua, name = slots_of.callee(self, callee)
	state.last.arguments = arguments_of(state, ins)
	if not state.last.arguments and is_lua ~= false then give_up "a call with arguments of unknown number" end
	if not func then return call_any(self, state, ins) end
	if is_lua then
		if not self.functions[func] then give_up "a call that the trace does not know" end
		return { enter(self, state, ins, func, state.last.arguments) }
	end
	if CALLS_BACK[name] or ins.name == "CALLT" then give_up "the library calls, or returns" end
	state.last.library = name
	local one = step_over(state, ins)
	if ins.b == 0 and name and (name:find "^math%." or name:find "^bit%.") and not NOT_ONE[name] then one.left = 1 end
	return { one }
end

local function leave(self, state, ins)
	local frame = state.frame
	local below = frame.below
	if not below then return nil end -- a trace that goes below its start contains RETF
	local pos = (frame.link - below.code.begin) // 4 - 1
	local caller = below.code:at(pos)
	if not caller or not caller.name:find "^CALL" then give_up "a return to no call" end
	local given = slots_of.results(self, state.slots, frame, ins, below, caller)
	local one = go(state, below, pos + 1)
	if caller.b == 0 then one.left = given end
	return one
end

-- The states after a step: a list, with more than one after a branch.
local function after(self, state, ins)
	local name, frame, pos = ins.name, state.frame, state.pos
	if OUT_OF_REACH[name] or not ins.known and not bytecode.modes[name] then give_up("out of reach: " .. name) end
	local one, other = branches(frame, pos, ins)
	slots_of.apply(self, state.slots, frame, ins)
	local goes_on
	if one then goes_on = slots_of.goes_on(self, state.slots, frame, ins) end
	if goes_on ~= nil then
		state.last.counted = true
		return { go(state, frame, goes_on == (ins.name:find "L$" ~= nil) and other or one) }
	end
	if one then return { go(state, frame, one), go(state, frame, other) } end
	if name == "JMP" or name == "UCLO" then return { go(state, frame, target_of(pos, ins)) } end
	if name == "CALL" or name == "CALLM" or name == "CALLT" then return call(self, state, ins) end
	if name:find "^RET" then return { leave(self, state, ins) } end
	return { go(state, frame, pos + 1) }
end

local function arrived(state, goal)
	return state.pos == goal.pos and state.count > 0 and same(state.frame, goal.frame)
end

local function way_of(state)
	local list, step = {}, state.last
	for i = state.count, 1, -1 do list[i], step = step, step.last end
	return list
end

-- The loop at the trace's beginning is not executed twice.
local function back_at_start(self, state)
	return self.one.root == 0 and state.count > 0 and not state.frame.below and state.pos == self.start
		and (instruction(self, state.frame, state.pos).name:find "LOOP$" ~= nil)
end

-- Is a place in a loop of any of its frames, other than the loop that ends the trace? Then it may be passed before
-- the final visit.
local function is_in_loop(self, place)
	local frame, pos = place.frame, place.pos
	while frame do
		for at = pos, frame.code.count - 1 do
			local ins = frame.code:at(at)
			if ins.name == "JFORL" or ins.name == "JITERL" or ins.name == "JLOOP" then
				ins = instruction(self, frame, at)
			end
			local to = bytecode.target(at, ins)
			if to and to <= pos and to <= at and not closes(self, frame, at, ins) then return true end
		end
		if frame.below then pos = (frame.link - frame.below.code.begin) // 4 end
		frame = frame.below
	end
	return false
end

-- Executes a step; the next states are added to the stack.
local function advance(self, state, stack)
	if was_here(state) then give_up "around twice" end
	self.steps = self.steps + 1
	if self.steps > STEPS then give_up "too far" end
	local ins = instruction(self, state.frame, state.pos)
	state.last = { frame = state.frame, pos = state.pos, ins = ins, last = state.last }
	state.count = state.count + 1
	local ending = closes(self, state.frame, state.pos, ins)
	for i, new in ipairs(after(self, state, ins)) do
		if i > 1 and new.slots == state.slots then new.slots = slots_of.copy(new.slots) end
		new.ended = ending
		stack[#stack + 1] = new
	end
end

-- All paths from a state to the goal.
local function search(self, first, goal)
	local ways, stack, goes_on = {}, { first }, is_in_loop(self, goal)
	while #stack > 0 do
		local state = table.remove(stack)
		local there = arrived(state, goal)
		if there then
			ways[#ways + 1] = way_of(state)
			if #ways > WAYS then give_up "too many ways" end
		end
		if (goes_on or not there) and not state.ended and not back_at_start(self, state) then
			advance(self, state, stack)
		end
	end
	return ways
end

-- Can a snapshot with this first instruction be one of a comparison?
function replay.is_comparison(all, ref)
	local first = all[ref]
	return first ~= nil and first.type & ir.GUARD ~= 0 and GUARDS[first.name] or false
end

-- Does a step reach a place, or is it a branch with one side that does?
local function touches(step, place)
	if not same(step.frame, place.frame) then return false end
	if step.pos == place.pos then return true end
	local one, other = branches(step.frame, step.pos, step.ins)
	return one ~= nil and (one == place.pos or other == place.pos)
end

-- Does a path visit these places in order?
local function is_along(way, places)
	local i = 1
	for _, place in ipairs(places) do
		while way[i] and not touches(way[i], place) do i = i + 1 end
		if not way[i] then return false end
	end
	return true
end

-- ---- all ----

local function clones(vm, all, one)
	local names = vm:enum("IRFL_STR_LEN", "IRFL_")
	for ref = ir.BIAS + 1, one.nins - 1 do
		if all[ref].name == "FLOAD" and (names[all[ref].op2] or "FUNC_PC") == "FUNC_PC" then return true end
	end
	return false
end

-- A replay of a trace. `functions`: addresses of the Lua functions among its constants; `start`: its first position.
function replay.new(vm, one, all, functions, start)
	-- For functions with several closures, the trace knows only the prototype.
	return setmetatable(
		{
			vm = vm,
			one = one,
			ir = all,
			clones = clones(vm, all, one),
			functions = functions,
			start = start,
			codes = {},
			callees = {},
			steps = 0,
		},
		Replay
	)
end

-- All paths from one place to another through others, each a list of steps { frame, pos, ins }; nil and the reason. A
-- place: { list (frame.inlined), pc, ref, snap, base }. The first one is not that of a comparison, whose snapshot
-- lacks some slots.
function replay.ways(self, from, between, to)
	local ok, found = pcall(function()
		for _, place in ipairs { from, to, table.unpack(between) } do
			place.frame = chain_of(self, place.list)
			place.pos = (place.pc - place.frame.code.begin) // 4
		end
		slots_of.prepare(self)
		local list = {}
		for _, way in ipairs(search(self, { frame = from.frame, pos = from.pos, slots = slots_of.of_snapshot(self, from), count = 0 }, to)) do
			if is_along(way, between) then list[#list + 1] = way end
		end
		return list
	end)
	if ok then return #found > 0 and found or nil, "no way leads there" end
	if getmetatable(found) == GIVEN_UP then return nil, found.why end
	error(found, 0)
end

-- The known slots at a place, before its first step.
function replay.slots(self, from)
	return slots_of.of_snapshot(self, from)
end

-- Executes one step of a path: `made` are the IR instructions that it made, the last one its result.
function replay.step(self, slots, way, i, made)
	local step, following = way[i], way[i + 1]
	local state = { frame = step.frame, pos = step.pos, slots = slots }
	slots_of.apply(self, slots, step.frame, step.ins, made)
	if step.ins.name:find "^CALL" then
		if following and following.frame ~= step.frame then
			enter(self, state, step.ins, following.frame.func, step.arguments)
		else
			step_over(state, step.ins)
		end
	elseif step.ins.name:find "^RET" then
		leave(self, state, step.ins)
	end
end

return replay
