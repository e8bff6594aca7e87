-- vmstate: the activity of the VM: interpreter, C, a trace, the collector, the compiler; hooks, switches and
-- parameters of the compiler.
local xcore = require "xcore"
local commands = require "luajit.commands"
local proto = require "luajit.proto"
local trace = require "luajit.trace"

local vmstate = {}

local PHASES = { [0] = "pause", "propagate", "atomic", "sweep strings", "sweep", "finalize" }
local STATES = { [0] = "INTERP", "C", "GC", "EXIT", "RECORD", "OPT", "ASM" }
local DOES = {
	INTERP = "interprets bytecode", C = "is in a C function", GC = "collects garbage", EXIT = "leaves a trace", RECORD = "records a trace",
	OPT = "optimises a trace", ASM = "assembles a trace",
}

-- Macros of lj_dispatch.h (hookmask) and lj_jit.h (flags).
local EVENTS = { { 0x01, "call" }, { 0x02, "return" }, { 0x04, "line" }, { 0x08, "count" } }
local HOOK_ACTIVE, HOOK_VMEVENT, HOOK_GC, HOOK_PROFILE = 0x10, 0x20, 0x40, 0x80
local JIT_ON, OPTIMISATIONS = 0x1, 0x10000
local OPTIMISE = { "fold", "cse", "dce", "fwd", "dse", "narrow", "loop", "abc", "sink", "fuse", "fma" }

-- Short name and meaning: "TRACE 7", "runs trace 7".
function vmstate.name(vm)
	local state = vm.g.vmstate
	if state > 0x7fffffff then state = state - (1 << 32) end
	if state >= 0 then return "TRACE " .. state, "runs trace " .. state end
	local names = vm:enum("LJ_VMST_INTERP", "LJ_VMST_")
	local name = names[~state] or STATES[~state] or "#" .. ~state
	return name, DOES[name] or "is in an unknown state"
end

function vmstate.phase(vm)
	return PHASES[vm.g.gc.state] or "unknown: " .. vm.g.gc.state
end

local function place(vm, addr)
	local pt = vm.t:value("GCproto", addr)
	return ("%s:%d"):format((proto.source(vm, pt)), pt.firstline)
end

local function bits_of(list, mask)
	local names = {}
	for _, one in ipairs(list) do
		if mask & one[1] ~= 0 then names[#names + 1] = one[2] end
	end
	return table.concat(names, ", ")
end

local function add_hooks(vm, section)
	local g = vm.g
	local mask = g.hookmask
	local events = bits_of(EVENTS, mask)
	section:text("hooks", events ~= "" and events or "none")
	if g.hookf then
		section:text(
			"hook_function",
			xcore.symbol(g.hookf) or xcore.hex(xcore.addr(g.hookf)),
			{ label = "hook function" }
		)
	end
	if mask & HOOK_ACTIVE ~= 0 then section:bool("in_hook", true, { label = "a hook runs" }) end
	if mask & HOOK_GC ~= 0 then section:bool("in_finalizer", true, { label = "a finalizer runs" }) end
	if mask & HOOK_VMEVENT ~= 0 then section:bool("vm_events", true, { label = "VM events" }) end
	if mask & HOOK_PROFILE ~= 0 then section:bool("profiler", true, { label = "the profiler runs" }) end
end

-- The compiler's current work, if any.
local function add_recording(vm, section)
	local J = vm.J
	local states = vm:enum("LJ_TRACE_IDLE", "LJ_TRACE_")
	section:text("compiler_state", (states[J.state] or tostring(J.state)):lower(), { label = "compiler" })
	if J.cur.traceno == 0 then return end
	section:integer("recorded_trace", J.cur.traceno, { label = "trace in the making" })
	if J.parent ~= 0 then
		section:text("parent", ("trace %d, exit %d"):format(J.parent, J.exitno), { label = "side trace of" })
	end
	local start = J.cur.startpt[vm.layout.ref]
	local ok, text = pcall(place, vm, start)
	if start ~= 0 and ok then section:text("begun_in", text, { label = "begun in" }) end
end

local function optimisations(J)
	local names = {}
	for i, name in ipairs(OPTIMISE) do
		if J.flags & (OPTIMISATIONS << i - 1) ~= 0 then names[#names + 1] = name end
	end
	return table.concat(names, " ")
end

local function add_parameters(vm, section)
	local names = vm:enum("JIT_P_hotloop", "JIT_P_")
	local rows
	for i = 0, #vm.J.param - 1 do
		local name = names[i]
		if name and name ~= "_MAX" and name ~= "MAX" then
			rows = rows or section:table("parameters", { { "parameter", "text" }, { "value", "integer" } })
			rows:row(name, vm.J.param[i])
		end
	end
end

local function add_jit(vm, section)
	local J = vm.J
	section:bool("jit", J.flags & JIT_ON ~= 0, { label = "JIT is on" })
	section:text("optimisations", optimisations(J))
	add_recording(vm, section)
	section:count("traces", #trace.all(vm))
	section:bytes("machine_code", J.szallmcarea, { label = "machine code" })
	add_parameters(vm, section)
end

-- luajit.vmstate
function vmstate.run(t, report, args)
	local vm = commands.options(t, args, {}, 0)
	local section = report:section("vmstate", "LuaJIT: what the VM was doing")
	local name, does = vmstate.name(vm)
	section:headline("the VM " .. does)
	section:text("state", name)
	section:text("phase", vmstate.phase(vm), { label = "collector" })
	section:bytes("total", vm.g.gc.total)
	section:bytes("threshold", vm.g.gc.threshold)
	local running = vm.g.cur_L[vm.layout.ref]
	section:address("running", running ~= 0 and running or nil, { label = "running coroutine" })
	section:bool("main", running == xcore.addr(vm.main), { label = "is the main thread" })
	add_hooks(vm, section)
	if vm.J then add_jit(vm, section) else section:note "the compiler's state is unknown" end
	vm:tell(section)
end

return vmstate
