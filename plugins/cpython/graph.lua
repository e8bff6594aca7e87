-- graph: who keeps what alive: all objects are nodes of xcore.graph, their references edges; modules, interpreters
-- and frames are roots.
local xcore = require "xcore"
local frame = require "cpython.frame"
local modules = require "cpython.modules"
local objects = require "cpython.objects"
local references = require "cpython.references"
local runtime = require "cpython.runtime"

local graph = {}

local function add_roots(py, g)
	for _, interpreter in ipairs(py.interpreters) do
		local found, order = modules.of(py, interpreter)
		for _, name in ipairs(order or {}) do g:root(found[name], "module " .. name) end
		for _, name in ipairs { "modules", "sysdict", "builtins" } do
			local held = xcore.has(interpreter, name) and interpreter[name]
			if held then g:root(xcore.addr(held), "interpreter's " .. name) end
		end
	end
	for _, thread in ipairs(runtime.threads(py)) do
		for _, one in ipairs(frame.list(py, thread)) do
			local name = "frame of " .. (one.code and one.code.name or "?")
			g:root(frame.slots(py, one), name)
		end
	end
end

function graph.of(py)
	if py.graph then return py.graph end
	local g = xcore.graph()
	objects.each(py, function(type, addresses, sizes)
		g:nodes(addresses, sizes, type.name)
		if type.heap then g:edges(addresses, type.addr) end
		for _, span in ipairs(references.spans(py, type, addresses)) do
			if #span.from > 0 then
				g:scan {
					from = span.from, start = span.start, offset = span.offset, count = span.count, stride = span.stride, at = span.at,
					exact = true,
				}
			end
		end
	end)
	add_roots(py, g)
	py.graph = g
	return g
end

return graph
