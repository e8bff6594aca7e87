-- machine: Python threads and native threads: the C frames that run Python code, and what a thread does or waits for.
local frame = require "cpython.frame"

local machine = {}

local EVALUATOR = "_PyEval_EvalFrameDefault"

-- Activities by C functions among the innermost frames; the first match counts.
local DOING = {
	{ "^take_gil", "waits for the GIL" }, { "^drop_gil", "gives up the GIL" },
	{ "^PyThread_acquire_lock", "waits for a lock" }, { "^acquire_timed$", "waits for a lock" }, { "^_PySemaphore_", "waits for a lock" },
	{ "^pysleep$", "sleeps" }, { "^time_sleep$", "sleeps" }, { "nanosleep$", "sleeps" },
	{ "poll", "waits for files (poll)" }, { "select$", "waits for files (select)" }, { "^sock_", "waits for a socket" },
	{ "^gc_collect", "collects garbage" }, { "^deduce_unreachable$", "collects garbage" },
	{ "^_Py_read", "reads a file" }, { "^_Py_write", "writes a file" },
}

local INNERMOST = 12 -- C frames that are examined

-- The native frames of a thread, computed once.
function machine.frames(py, thread)
	if thread.c == nil then
		local runtime = require "cpython.runtime"
		local os = runtime.machine(py, thread)
		local ok, frames = pcall(function() return os and os:frames() end)
		thread.c = ok and frames or false
	end
	return thread.c or {}
end

-- The thread's activity, from the C functions above its first Python code.
function machine.doing(py, thread, holds)
	local first, names = nil, {}
	for i, one in ipairs(machine.frames(py, thread)) do
		if i > INNERMOST or one.name == EVALUATOR then break end
		names[#names + 1] = one.name
		if not first and one.name and one.file and not one.signal then first = one.name end
	end
	for _, rule in ipairs(DOING) do
		for _, name in ipairs(names) do
			if name:find(rule[1]) then return rule[2] end
		end
	end
	if first then return "in " .. first .. " (C)" end
	return holds and "runs Python code" or "runs"
end

-- Up to 3.9 no Python data is on the C stack: each frame object has one C frame, in order. If the numbers differ
-- (inlined calls, a cut C stack), the outer ones are matched.
local function pair(py, thread)
	local list, c = frame.list(py, thread), {}
	for _, one in ipairs(machine.frames(py, thread)) do
		if one.name == EVALUATOR and one.sp and not one.inlined then c[#c + 1] = one.sp end
	end
	local shift = #c - #list
	for i, one in ipairs(list) do one.at = c[i + shift] end
	return shift
end

-- Frames by their C frame: { { at, frames } }, innermost first; `at` is nil if it is unknown.
function machine.groups(py, thread)
	local list, groups = frame.list(py, thread), {}
	if not py.layout.interpreter_frames and not py.layout.cframe then pair(py, thread) end
	for _, one in ipairs(list) do
		local last = groups[#groups]
		if last and last.at == one.at and (py.layout.interpreter_frames or one.at == nil) then
			last.frames[#last.frames + 1] = one
		else
			groups[#groups + 1] = { at = one.at, frames = { one } }
		end
	end
	return groups
end

return machine
