-- graph: who keeps what alive: all objects as nodes of xcore.graph, their references as edges; modules, interpreters and frames as roots.
local xcore = require "xcore"
local dict = require "cpython.dict"
local frame = require "cpython.frame"
local modules = require "cpython.modules"
local objects = require "cpython.objects"
local references = require "cpython.references"
local runtime = require "cpython.runtime"
local text = require "cpython.text"
local types = require "cpython.types"
local value = require "cpython.value"

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

-- ---- how one object refers to another ----

local LABEL = {}

local function by_key(py, each, to)
	local found
	each(function(key, held)
		if held == to then found = key end
		if key == to then found = found or false end
		return found
	end)
	return found
end

function LABEL.dict(py, from, to)
	local key = by_key(py, function(fn) dict.each(py, from, fn, 1000000) end, to)
	return key and "[" .. value.show(py, key) .. "]" or key == false and "key" or nil
end

local function index_in(py, at, count, to)
	for i = 0, math.min(count, 1000000) - 1 do
		if py.t:ptr(at + i * py.layout.word) == to then return ("[%d]"):format(i) end
	end
end

function LABEL.list(py, from, to)
	local at = py.t:value("PyListObject", from).ob_item
	return at and index_in(py, xcore.addr(at), py.t:i64(from + py.layout.ob_size), to)
end

function LABEL.tuple(py, from, to)
	return index_in(py, from + py.layout.items.tuple, py.t:i64(from + py.layout.ob_size), to)
end

function LABEL.set() return "member" end
function LABEL.cell() return "held" end

-- The members of C structs that refer.
local STRUCTS = {
	["function"] = "PyFunctionObject", code = "PyCodeObject", type = "PyTypeObject", frame = "PyFrameObject", method = "PyMethodObject",
}

local function member(py, type, from, to)
	local name = STRUCTS[type.kind]
	if not name or not py.t:has_type(name) then return nil end
	for _, m in ipairs(py.t:type(name):strip():members()) do
		if m.offset and m.name and m.type.size == py.layout.word and py.t:ptr(from + m.offset) == to then return "." .. m.name end
	end
end

-- "[3]", "['key']", ".attribute": how an object refers to another; nil when nothing tells.
function graph.label(py, from, to)
	local ok, found = pcall(function()
		local type = types.of(py, from)
		if not type then return nil end
		if type.addr == to then return "its class" end
		local label = LABEL[type.kind] and LABEL[type.kind](py, from, to) or member(py, type, from, to)
		if label then return label end
		local key = by_key(py, function(fn) dict.each_attribute(py, from, type, fn, 100000) end, to)
		if key then return "." .. (text.maybe(py.t, key, 200) or "?") end
		return dict.of_instance(py, from, type) == to and ".__dict__" or nil
	end)
	return ok and found or nil
end

return graph
