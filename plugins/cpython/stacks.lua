-- stacks: Python frames among C frames, for `xcore bt`, `analyze` and `flame stacks`.
local frame = require "cpython.frame"
local machine = require "cpython.machine"
local runtime = require "cpython.runtime"

local stacks = {}

local DETAILED = 5000 -- frames whose variables are shown

function stacks.rows(py, frames, budget)
	local rows = {}
	for i, one in ipairs(frames) do
		local what = frame.describe(py, one)
		local row =
			{ name = what.name, file = what.file, line = what.line, language = "python", args = {}, locals = {} }
		budget.rows = budget.rows + 1
		if budget.rows <= DETAILED then
			for _, v in ipairs(frame.variables(py, one)) do
				local list = v.argument and row.args or row.locals
				list[#list + 1] = { name = v.name, value = v.text, why = v.why }
			end
		end
		rows[i] = row
	end
	return rows
end

function stacks.tell(t, told)
	local py, budget = runtime.of(t), { rows = 0 }
	for _, thread in ipairs(runtime.threads(py)) do
		local os = runtime.machine(py, thread)
		for _, group in ipairs(machine.groups(py, thread)) do
			local rows = stacks.rows(py, group.frames, budget)
			if os and group.at then
				told:frames(os.tid, group.at, rows)
			else
				told:stack {
					name = ("Python thread %d"):format(thread.state.thread_id),
					state = "not placed on a C stack",
					rows = rows,
				}
			end
		end
	end
end

return stacks
