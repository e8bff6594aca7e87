-- snapshot: the state of the interpreter's stack if a trace were left at one of its exits (lj_snap.c): the position,
-- the inlined frames, and the slots whose values are in registers or constants.
--
--	GCtrace.snap[n]  { mapofs, ref, mcofs, nslots, topslot, nent, count }
--	snapmap[mapofs]  nent entries  | slot:8 | flags:8 | reference:16 |, then the links:
--	LJ_FR2           one word of 64 bits: PC << 8 | slots from the trace's base to the innermost frame's
--	otherwise        the PC, then one word for each inlined frame, innermost first, as in the frame itself
local xcore = require "xcore"
local ir = require "luajit.ir"
local trace = require "luajit.trace"

local snapshot = {}

local FRAME, CONT, NORESTORE = 0x10000, 0x20000, 0x40000
local IN_REGISTER = "held by the trace in a register"

-- The columns of all snapshots of a trace.
local function columns(vm, one)
	local fields = { "mapofs", "ref", "nslots", "nent", "count" }
	local has_place = xcore.has(vm.t:type "SnapShot", "mcofs") -- since 2021-03
	if has_place then fields[#fields + 1] = "mcofs" end
	return (xcore.columns(one.snap, one.nsnap, fields)), one.nsnap, has_place
end

-- Addresses in the code are counted in its units: bytes, or words of 4.
local function unit(vm)
	return vm.t.arch == "x86-64" and 1 or 4
end

-- The exit that a jump leads to, even if a side trace was linked there later: the side trace stores its start (its
-- instruction BASE).
local function exit_of(vm, one, target)
	local exit = trace.exit_at(vm, target)
	if exit then return exit end
	local other = trace.at(vm, target)
	local base = other and other.lo == target and ir.at(vm, other.trace, ir.BIAS)
	return base and base.name == "BASE" and base.op1 == one.traceno and base.op2 or nil
end

-- The snapshot valid at the beginning of the loop: the last one before the instruction LOOP.
local function of_loop(vm, one, c, count)
	local found = 0
	for ref = one.nins - 1, ir.BIAS + 1, -1 do
		if ir.at(vm, one, ref).name == "LOOP" then
			for i = 1, count do
				if c.ref[i] <= ref then found = i - 1 end
			end
			break
		end
	end
	return found
end

-- Before places were stored, the exits of the guards before an offset decide: the one passed last, or the loop's.
local function by_exits(vm, one, offset, c, count)
	if vm.t.arch ~= "x86-64" then return nil end
	local code, found = vm.t:ptr(xcore.addr(one, "mcode")), 0
	for _, ins in ipairs(vm.t:disassemble(code, math.min(offset, 1 << 18))) do
		if one.mcloop > 0 and ins.addr - code == one.mcloop then found = math.max(found, of_loop(vm, one, c, count)) end
		local exit = ins.target
			and (ins.target < code or ins.target >= code + one.szmcode)
			and exit_of(vm, one, ins.target)
		if exit and exit < count then found = math.max(found, exit) end
	end
	if one.mcloop > 0 and offset == one.mcloop then found = math.max(found, of_loop(vm, one, c, count)) end
	return found
end

-- The number of the snapshot valid at an offset in the machine code: the last one before it; nil if it is unknown.
function snapshot.at(vm, one, offset)
	local ok, c, count, has_place = pcall(columns, vm, one)
	if not ok then return nil end
	if not has_place then
		local known, found = pcall(by_exits, vm, one, offset, c, count)
		return known and found or nil
	end
	local found
	for i = 1, count do
		if c.mcofs[i] * unit(vm) <= offset then found = i - 1 end
	end
	return found or (count > 0 and 0 or nil)
end

-- One snapshot: pc, base (slots between the trace's base and its innermost frame), entries { slot, flags, ref },
-- links, nslots, count, place.
function snapshot.read(vm, one, number)
	if number < 0 or number >= one.nsnap then
		error(xcore.error("not_found", ("trace %d has %d snapshots"):format(one.traceno, one.nsnap)))
	end
	local s = one.snap[number]
	local first = xcore.addr(one.snapmap) + s.mapofs * 4
	local last = number + 1 < one.nsnap and one.snap[number + 1].mapofs or one.nsnapmap
	local snap = { number = number, entries = {}, links = {}, nslots = s.nslots, count = s.count, ref = s.ref,
		place = xcore.has(s, "mcofs") and s.mcofs * unit(vm) or nil }
	for i = 0, s.nent - 1 do
		local word = vm.t:u32(first + 4 * i)
		snap.entries[i + 1] = { slot = word >> 24, flags = word & 0xff0000, ref = word & 0xffff }
	end
	local links = first + 4 * s.nent
	if vm.layout.fr2 == 1 then
		local word = vm.t:u64(links)
		snap.pc, snap.base = word >> 8, word & 0xff
	else
		snap.pc = vm.t:u32(links)
		for at = links + 4, xcore.addr(one.snapmap) + (last - 1) * 4, 4 do
			snap.links[#snap.links + 1] = vm.t:u32(at)
		end
	end
	return snap
end

-- The trace's value for a slot, as text. A register or spill slot has its current content, which may have changed
-- since the exit.
local function held(vm, one, ref, machine)
	local ok, text = pcall(function()
		local where, value = ir.held(vm, one, ref, machine)
		if not where then return nil end
		return value and ("about %s, in %s"):format(value, where) or "held by the trace in " .. where
	end)
	return ok and text or IN_REGISTER
end

-- Its words by address, with the trace's frame at `base`; and the position of its innermost frame. A non-constant
-- value is a text that says so. `machine`: the trace's frame on the C stack, if there is one.
function snapshot.slots(vm, one, snap, base, machine)
	local slots, inner = {}, base + 8 * (snap.base or 0)
	local first = base - 8 * (1 + vm.layout.fr2)
	local link = #snap.links
	for _, entry in ipairs(snap.entries) do
		local at, is_frame = first + 8 * entry.slot, entry.flags & (FRAME | CONT) ~= 0
		local bits = ir.constant(vm, one, entry.ref)
		if vm.layout.fr2 == 0 and is_frame and entry.slot > 0 then
			-- The frame's link replaces the tag.
			slots[at] = bits and bits & 0xffffffff | (snap.links[link] or 0) << 32 or held(vm, one, entry.ref, machine)
			link = link - 1
			inner = at + 8
		elseif entry.flags & NORESTORE == 0 and not (vm.layout.fr2 == 0 and entry.slot == 0) then
			slots[at] = bits or held(vm, one, entry.ref, machine)
		end
	end
	return slots, inner
end

-- The snapshot that the code after the last one leads back to; nil if that is not this trace's own loop.
function snapshot.loop(vm, one)
	if one.link ~= one.traceno or one.mcloop == 0 then return nil end
	local c, count = columns(vm, one)
	return of_loop(vm, one, c, count)
end

-- ---- pieces of code ----

-- The place of a snapshot's piece if places were not stored: between the last guard of an earlier one, or the
-- beginning of the loop, and the first guard of a later one, or the loop's.
local function bounds_by_exits(vm, one, number, offset)
	local code, lo, hi = vm.t:ptr(xcore.addr(one, "mcode")), 0, one.szmcode
	if one.mcloop > 0 then
		if offset >= one.mcloop then lo = one.mcloop else hi = one.mcloop end
	end
	for _, ins in ipairs(vm.t:disassemble(code, math.min(one.szmcode, 1 << 18))) do
		local at = ins.addr - code
		local leaves = ins.target and (ins.target < code or ins.target >= code + one.szmcode)
		local exit = leaves and at >= lo and at < hi and exit_of(vm, one, ins.target)
		if exit and exit < number and at < offset then lo = at + ins.length end
		if exit and exit > number and exit < one.nsnap and at > offset then
			hi = at
			break
		end
	end
	return lo, hi
end

-- The instructions that such a piece can contain: from the last guard before its own to the first one after it.
local function instructions_by_guards(vm, one, piece, in_loop)
	local first, last = piece.from, piece.to
	while first > ir.BIAS + 1 do
		local ins = ir.at(vm, one, first)
		if first < piece.from and ins.type & ir.GUARD ~= 0 or in_loop and ins.name == "LOOP" then break end
		first = first - 1
	end
	while last < one.nins do
		local ins = ir.at(vm, one, last)
		last = last + 1
		if ins.type & ir.GUARD ~= 0 then break end
	end
	return first, last
end

-- The code recorded between the snapshot valid at an offset and the next one: { number, next, lo, hi (offsets), from,
-- to (references), first, last (other references that the code can belong to) }, upper ends exclusive; nil if it is
-- unknown.
function snapshot.piece(vm, one, number, offset)
	local c, count, has_place = columns(vm, one)
	local last = number + 1 >= count
	local following = not last and number + 1 or snapshot.loop(vm, one)
	if not following then return nil end
	local piece =
		{ number = number, next = following, from = c.ref[number + 1], to = last and one.nins or c.ref[number + 2] }
	if has_place then
		piece.first, piece.last = piece.from, piece.to
		piece.lo, piece.hi = c.mcofs[number + 1] * unit(vm), last and one.szmcode or c.mcofs[number + 2] * unit(vm)
	else
		piece.lo, piece.hi = bounds_by_exits(vm, one, number, offset)
		piece.first, piece.last = instructions_by_guards(vm, one, piece, one.mcloop > 0 and offset >= one.mcloop)
	end
	return piece
end

-- The functions of a snapshot's frames above the trace's own, innermost first, as texts.
function snapshot.frames(vm, one, snap)
	local names, inner = {}, 1 + vm.layout.fr2
	for _, entry in ipairs(snap.entries) do
		local bits = ir.constant(vm, one, entry.ref)
		local is_function = entry.slot >= inner and bits and ir.is_function(vm, one, entry.ref)
		-- With two slots per frame, the second one is marked; the function is in the one before it.
		local marked = entry.flags & FRAME ~= 0
		if vm.layout.fr2 == 1 and is_function then names.pending = { entry.slot, bits } end
		if vm.layout.fr2 == 1 and marked and names.pending and names.pending[1] == entry.slot - 1 then
			table.insert(names, 1, ir.function_name(vm, names.pending[2] & (1 << 47) - 1))
		elseif vm.layout.fr2 == 0 and marked and is_function then
			table.insert(names, 1, ir.function_name(vm, bits & 0xffffffff))
		end
	end
	names.pending = nil
	return names
end

-- The value of an entry for its slot, as text: followed by "|" if a frame begins there.
function snapshot.reference(vm, one, entry)
	local mark = entry.flags & FRAME ~= 0 and "|" or ""
	local is_link = vm.layout.fr2 == 1
		and entry.flags & (FRAME | CONT) ~= 0
		and entry.ref < ir.BIAS
		and not ir.is_function(vm, one, entry.ref)
	if is_link and entry.slot == 1 then return "----" .. mark end
	if is_link then return (entry.flags & CONT ~= 0 and "contpc" or "ftsz") .. mark end
	return ir.reference(vm, one, entry.ref) .. mark
end

snapshot.held = held
snapshot.FRAME, snapshot.CONT, snapshot.NORESTORE = FRAME, CONT, NORESTORE
return snapshot
