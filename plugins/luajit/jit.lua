-- jit: output about compiled code: traces, their intermediate representation, snapshots, machine code, aborts.
local xcore = require "xcore"
local commands = require "luajit.commands"
local ir = require "luajit.ir"
local name = require "luajit.name"
local snapshot = require "luajit.snapshot"
local trace = require "luajit.trace"

local jit = {}

local function usage(what, hint)
	error(xcore.error("usage", what, hint))
end

-- ---- arguments ----

local function number_of(text, what)
	local number = math.tointeger(tonumber(text or ""))
	if not number then usage(("%s needs a number, not '%s'"):format(what, text or "nothing")) end
	return number
end

-- A trace by its number, or by an address (0x…) within its machine code.
local function trace_named(vm, text)
	if not text then usage("which trace?", "its number, or an address in its machine code: luajit.trace lists them") end
	local number = number_of(text, "which trace")
	local one = not text:find "^0[xX]" and trace.get(vm, number)
	if not one then
		local range = trace.at(vm, number)
		one = range and range.trace
	end
	if not one then
		error(xcore.error("not_found", ("%s is neither the number of a trace nor an address in its machine code"):format(text),
			"luajit.trace lists them"))
	end
	return one
end

local function needs_compiler(vm)
	if not vm.J then
		error(xcore.error("not_found",
			"this LuaJIT was built without its JIT compiler, or the compiler's state is unknown"))
	end
end

-- ---- traces ----

local LINKS = { TAILREC = "tail-recursion", UPREC = "up-recursion", DOWNREC = "down-recursion", INTERP = "interpreter" }

local function link_text(vm, one)
	local kind = vm:enum("LJ_TRLINK_NONE", "LJ_TRLINK_")[one.linktype] or "#" .. one.linktype
	kind = LINKS[kind] or kind:lower()
	if one.link ~= 0 and one.link ~= one.traceno then return ("%s to %d"):format(kind, one.link) end
	return kind
end

-- The trace that continues in this one after a C function that it calls, as "17/stitch"; nil if there is none.
local function stitched(vm, number)
	if not vm.stitched then
		vm.stitched = {}
		for _, other in ipairs(trace.all(vm)) do
			local kind = vm:enum("LJ_TRLINK_NONE", "LJ_TRLINK_")[other.trace.linktype]
			if kind == "STITCH" then vm.stitched[other.trace.link] = other.number .. "/stitch" end
		end
	end
	return vm.stitched[number]
end

-- The parent exit at which a side trace begins: the instruction BASE stores it (lj_record.c).
local function parent(vm, one)
	if one.root == 0 then return stitched(vm, one.traceno) end
	local base = ir.at(vm, one, ir.BIAS)
	if not base or base.name ~= "BASE" or base.op1 == 0 then return ("of %d"):format(one.root) end
	return ("%d/%d"):format(base.op1, base.op2)
end

local TRACES = {
	{ "trace", "integer", label = "#" }, { "begins", "text" }, { "parent", "text" }, { "link", "text" }, { "children", "count" },
	{ "ir", "count" }, { "exits", "count" }, { "taken", "count" }, { "code", "address" }, { "size", "bytes" },
}

-- The number of times its exits were taken, as far as they are counted: up to 255 each.
local function exits_taken(one)
	local ok, c, count = pcall(xcore.columns, one.snap, one.nsnap, { "count" })
	if not ok then return nil end
	local sum = 0
	for i = 1, count do sum = sum + c.count[i] end
	return sum
end

local function mcode(vm, one)
	return vm.t:ptr(xcore.addr(one, "mcode")), one.szmcode
end

local function trace_row(vm, rows, number, one)
	local code, size = mcode(vm, one)
	local ok, start = pcall(trace.start, vm, one)
	local known, from = pcall(parent, vm, one)
	rows:row(number, ok and start or "?", known and from or nil, link_text(vm, one), one.nchild, one.nins - ir.BIAS, one.nsnap, exits_taken(one),
		code, size)
end

local function list(vm, section, limit)
	local all = trace.all(vm)
	section:count("traces", #all)
	section:bytes("machine_code", vm.J.szallmcarea, { label = "memory for machine code" })
	local state = vm.g.vmstate
	if state >= 0 then section:integer("running", state, { label = "running trace" }) end
	local rows = section:table("list", TRACES)
	for i, one in ipairs(all) do
		if i > limit then
			section:note(("%d more traces"):format(#all - limit), "--limit N shows more")
			break
		end
		trace_row(vm, rows, one.number, one.trace)
	end
end

-- File and line of an address in bytecode, as text.
function jit.where(vm, pc)
	local pt, pos = require("luajit.listing").holding(vm, pc)
	return pt and name.place(vm, pt, pos)
end

local function show(vm, section, one)
	local _, source, line = trace.start(vm, one)
	section:text("file", source)
	section:integer("line", line)
	section:text("link", link_text(vm, one))
	section:text("parent", parent(vm, one), { label = "side trace of" })
	local code, size = mcode(vm, one)
	section:address("code", code)
	section:bytes("size", size)
	section:bytes("loop", one.mcloop, { label = "loop begins after" })
	section:bytes("stack", one.spadjust, { label = "own stack" })
	section:count("instructions", one.nins - ir.BIAS)
	section:count("constants", ir.BIAS - one.nk)
	section:count("exits", one.nsnap)
	section:count("children", one.nchild)
	local functions = ir.functions(vm, one, true)
	if #functions > 0 then section:text("functions", table.concat(functions, ", "), { label = "inlines or calls" }) end
	for i, number in ipairs { one.nextroot, one.nextside } do
		if number ~= 0 then section:integer(i == 1 and "next_root" or "next_side", number) end
	end
end

function jit.trace(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number", aborts = "flag" }, 1)
	local limit = options.limit or 100
	needs_compiler(vm)
	local section = report:section("trace", "Traces")
	if options.aborts then
		require("luajit.aborts").add(vm, section)
	elseif options[1] then
		local one = trace_named(vm, options[1])
		section = report:section("trace", ("Trace %d"):format(one.traceno))
		show(vm, section, one)
	else
		list(vm, section, limit)
	end
	vm:tell(section)
end

-- ---- intermediate representation ----

local function snapshot_text(vm, one, snap)
	local parts, next_slot = {}, 0
	for _, entry in ipairs(snap.entries) do
		while next_slot < entry.slot do
			parts[#parts + 1] = "----"
			next_slot = next_slot + 1
		end
		local text = snapshot.reference(vm, one, entry)
		parts[#parts + 1] = text
		next_slot = entry.slot + 1
	end
	while next_slot < snap.nslots and #parts < 300 do
		parts[#parts + 1] = "----"
		next_slot = next_slot + 1
	end
	return "[ " .. table.concat(parts, " ") .. " ]"
end

local IR = {
	{ "ref", "integer" }, { "register", "text" }, { "flags", "text" }, { "type", "text" }, { "op", "text" }, { "left", "text" },
	{ "right", "text" }, { "op1", "integer", verbose = true }, { "op2", "integer", verbose = true },
}

-- Instructions without meaning of their own: the arguments of calls are shown with the calls.
local LEFT_OUT = { NOP = true, CARG = true }

-- A snapshot; nil, with a report, if it cannot be read.
local function snapshot_of(vm, one, number)
	if number >= one.nsnap then return nil end
	local ok, snap = pcall(snapshot.read, vm, one, number)
	if ok then return snap end
	vm:damaged(
		xcore.addr(one),
		("exit %d of trace %d cannot be read: %s"):format(
			number,
			one.traceno,
			type(snap) == "table" and snap.message or snap
		)
	)
end

-- The snapshots that are valid from an instruction on, then the instruction.
local function add_snapshots(vm, rows, one, ref, state)
	while state.snap and ref >= state.snap.ref do
		rows:row(nil, nil, nil, nil, "SNAP", "#" .. state.number, snapshot_text(vm, one, state.snap))
		state.number = state.number + 1
		state.snap = snapshot_of(vm, one, state.number)
	end
end

function jit.ir(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" }, 1)
	local limit = options.limit or 2000
	needs_compiler(vm)
	local one = trace_named(vm, options[1])
	local section = report:section("ir", ("Trace %d: intermediate representation"):format(one.traceno))
	local rows, state = section:table("ir", IR), { number = 0, snap = snapshot_of(vm, one, 0) }
	for ref = ir.BIAS + 1, one.nins - 1 do
		if ref - ir.BIAS > limit then
			section:note(("%d more instructions"):format(one.nins - ref), "--limit N shows more")
			return
		end
		add_snapshots(vm, rows, one, ref, state)
		local ins = ir.at(vm, one, ref)
		if not LEFT_OUT[ins.name] then
			local what = ir.describe(vm, one, ins)
			rows:row(
				ref - ir.BIAS,
				what.register,
				what.flags,
				what.type,
				ins.name,
				what.left,
				what.right,
				ins.op1,
				ins.op2
			)
		end
	end
	add_snapshots(vm, rows, one, one.nins, state)
	vm:tell(section)
end

-- ---- snapshots ----

local SNAPSHOTS = {
	{ "exit", "integer", label = "#" }, { "place", "integer", label = "CODE OFFSET" }, { "ref", "integer" }, { "where", "text" },
	{ "frames", "text" }, { "taken", "count" }, { "slots", "text", secret = true },
}

local function snapshot_row(vm, rows, one, number)
	local snap = snapshot_of(vm, one, number)
	if not snap then return end
	rows:row(number, snap.place, snap.ref - ir.BIAS, jit.where(vm, snap.pc), table.concat(snapshot.frames(vm, one, snap), " < "), snap.count,
		snapshot_text(vm, one, snap))
end

function jit.snap(t, report, args)
	local vm, options = commands.options(t, args, {}, 2)
	needs_compiler(vm)
	local one = trace_named(vm, options[1])
	local section = report:section("snap", ("Trace %d: exits"):format(one.traceno))
	local rows = section:table("snapshots", SNAPSHOTS)
	local from, to = 0, one.nsnap - 1
	if options[2] then
		from = number_of(options[2], "which exit")
		to = from
	end
	if options[2] and (from < 0 or from >= one.nsnap) then
		usage(("trace %d has exits 0 to %d"):format(one.traceno, one.nsnap - 1))
	end
	for number = from, to do snapshot_row(vm, rows, one, number) end
	vm:tell(section)
	section:note "TAKEN counts up to 255; 255 can also mean that a side trace begins at the exit"
end

-- ---- machine code ----

local MCODE =
	{ { "mark", "text", label = "" }, { "addr", "address" }, { "instruction", "text" }, { "leads_to", "text" } }

-- The target of a jump out of the trace.
local function leads_to(vm, one, range, target)
	if not target then return nil end
	if target >= range.lo and target <= range.hi then return nil end
	local other = trace.at(vm, target)
	if other then return ("trace %d"):format(other.number) end
	local exit = trace.exit_at(vm, target)
	if exit then return ("exit %d"):format(exit) end
	return xcore.symbol(target) or "an exit"
end

function jit.mcode(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" }, 1)
	local limit = options.limit or 2000
	needs_compiler(vm)
	local one = trace_named(vm, options[1])
	local code, size = mcode(vm, one)
	local asked = number_of(options[1], "which trace")
	local range = { lo = code, hi = code + size - 1 }
	local section = report:section("mcode", ("Trace %d: machine code"):format(one.traceno))
	section:address("code", code)
	section:bytes("size", size)
	local rows = section:table("code", MCODE)
	for i, ins in ipairs(t:disassemble(code, math.min(size, 1 << 20))) do
		if i > limit then
			section:note("more instructions", "--limit N shows more")
			break
		end
		local mark = asked >= ins.addr and asked < ins.addr + ins.length and "=>"
			or ins.addr == code + one.mcloop and one.mcloop > 0 and "loop"
			or ""
		rows:row(mark, ins.addr, ins.text, leads_to(vm, one, range, ins.target))
	end
end

return jit
