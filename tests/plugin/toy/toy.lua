-- toy: the stacks of toy.c: code first, then frames, then coroutines.
local xcore = require "xcore"

local function traces(t, stacks)
	for _, trace in xcore.each(t:var "traces") do
		local lo = xcore.addr(trace.code)
		stacks:code {
			lo = lo, hi = lo + trace.size - 1, cfa = { "rsp", trace.frame + 8 }, saved = { rip = -8, rbx = -16 },
			name = xcore.str(trace.name), file = "toy.t", line = trace.line, language = "toy",
		}
	end
end

-- A list for each run(): its activations are in its frame.
local function frames(t, stacks)
	local tid, rows, at = t:thread().tid, {}, t:var "top"
	while at do
		rows[#rows + 1] = {
			name = xcore.str(at.name), file = "toy.t", line = at.line, kind = not at.prev and "main" or nil,
			args = { { name = "arg", type = "number", value = tostring(at.arg) } },
			upvalues = { { name = "up", value = "'secret'" } },
		}
		if at.first == 1 then
			stacks:frames(tid, at, rows)
			rows = {}
		end
		at = at.prev
	end
end

local function coroutines(t, stacks)
	local c = t:var "coroutines"
	while c do
		stacks:stack {
			name = "coroutine " .. xcore.str(c.name), state = "suspended",
			rows = {
				{ name = xcore.str(c.functions[0]), kind = "builtin" },
				{ name = xcore.str(c.functions[1]), file = "toy.t", line = 3 },
			},
		}
		c = c.next
	end
end

return {
	name = "toy", about = "a toy interpreter and its traces", match = { symbols = { "behind_call" } },
	stacks = function(t, stacks)
		traces(t, stacks)
		frames(t, stacks)
		coroutines(t, stacks)
	end,
}
