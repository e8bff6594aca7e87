-- runtime: _PyRuntime, its interpreters, their thread states and their lock.
local xcore = require "xcore"
local damage = require "lib.damage"
local layout = require "cpython.layout"

local runtime = { try = damage.try }

local MOST_INTERPRETERS, MOST_THREADS = 1000, 20000

local function unwrap(v)
	if type(v) == "number" then return v end
	return v and xcore.has(v, "_value") and v._value or v and xcore.addr(v) or 0
end

-- The pointer or number in a member that may have a struct around it (_Py_atomic_address).
runtime.unwrap = unwrap

-- The plugin's view of the process: damage is kept, to be reported later.
local Python = {}
Python.__index = Python

Python.damaged, Python.tell = damage.keep, damage.tell

local function interpreters(py)
	local list, at = {}, py.runtime.interpreters.head
	while at and #list < MOST_INTERPRETERS do
		list[#list + 1] = at
		at = at.next
	end
	return list
end

local function symbol(t)
	if not t:has_symbol "_PyRuntime" then
		error(xcore.error("not_found", "there is no CPython in this process: no symbol _PyRuntime"))
	end
	return t:symbol "_PyRuntime".addr
end

function runtime.of(t)
	local addr = symbol(t)
	require("cpython.declare").layouts(t, addr)
	if not t:has_type "_PyRuntimeState" then
		error(xcore.error("unsupported", "no layout of this CPython version is known",
			"pass its debug information: the package python3.N-dbg, with --debug-dir, or --debuginfod"))
	end
	local py = setmetatable({ t = t, layout = layout.of(t), addr = addr, types = {} }, Python)
	py.runtime = t:value("_PyRuntimeState", addr)
	py.interpreters = interpreters(py)
	return py
end

-- Thread states of all interpreters: values, newest first, the interpreter's order.
function runtime.threads(py)
	if py.threads then return py.threads end
	local list = {}
	for _, interpreter in ipairs(py.interpreters) do
		local ok, err = pcall(function()
			local seen = {}
			local at = xcore.has(interpreter, "threads") and interpreter.threads.head or nil
			if not at and xcore.has(interpreter, "tstate_head") then at = interpreter.tstate_head end
			while at do
				local addr = xcore.addr(at)
				if seen[addr] or #list >= MOST_THREADS then
					py:damaged(addr, "the list of thread states is a cycle, or too long")
					break
				end
				seen[addr] = true
				list[#list + 1] = { state = at, addr = addr, interpreter = interpreter }
				at = at.next
			end
		end)
		if not ok then py:damaged(xcore.addr(interpreter), "thread states: " .. (err.message or tostring(err))) end
	end
	py.threads = list
	return list
end

-- The native thread of a thread state: by the kernel's id if it is stored (since 3.11), else by the address of its
-- descriptor, else, if registers are unavailable, by the id that Python code has stored.
function runtime.machine(py, thread)
	if thread.machine ~= nil then return thread.machine or nil end
	if not py.machines then
		py.machines, py.by_base = {}, {}
		for _, one in ipairs(py.t:threads()) do
			py.machines[one.tid] = one
			local ok, registers = pcall(one.registers, one)
			local base = ok and (registers.fs_base or registers.tpidr)
			if base then py.by_base[base] = one end
		end
	end
	local state = thread.state
	local found = xcore.has(state, "native_thread_id") and py.machines[state.native_thread_id]
		or py.by_base[state.thread_id]
	found = found or py.machines[require("cpython.threads").native(py, thread) or 0]
	thread.machine = found or false
	return found
end

-- The lock of an interpreter: { locked, holder (address of a thread state), interval, switches }; nil without one
-- (free threading).
function runtime.gil(py, interpreter)
	local at
	if xcore.has(interpreter.ceval, "gil") then
		at = interpreter.ceval.gil
	elseif xcore.has(py.runtime.ceval, "gil") then
		at = py.runtime.ceval.gil
	end
	if not at then return nil end
	return {
		addr = xcore.addr(at), locked = unwrap(at.locked), holder = unwrap(at.last_holder), interval = at.interval,
		switches = at.switch_number,
	}
end

return runtime
