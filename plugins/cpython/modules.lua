-- modules: sys.modules.
local xcore = require "xcore"
local args = require "lib.args"
local dict = require "cpython.dict"
local runtime = require "cpython.runtime"
local text = require "cpython.text"
local types = require "cpython.types"

local modules = {}

-- The dict of sys.modules.
local function held(interpreter)
	if xcore.has(interpreter, "modules") then return interpreter.modules end
	if xcore.has(interpreter, "imports") then return interpreter.imports.modules end
end

-- Addresses by name, and names in order.
function modules.of(py, interpreter)
	local at = held(interpreter or py.interpreters[1])
	if not at then return nil end
	local found, order = {}, {}
	dict.each(py, xcore.addr(at), function(key, module)
		local name = text.maybe(py.t, key, 500)
		if name and not found[name] then
			found[name] = module
			order[#order + 1] = name
		end
	end, 100000)
	return found, order
end

local function text_of(py, attributes, name)
	local found = attributes and dict.get(py, attributes, name)
	return found and text.maybe(py.t, found, 4096)
end

-- cpython.modules
function modules.run(t, report, list)
	args.parse(list, {}, 0)
	local py = runtime.of(t)
	local section = report:section("modules", "Python modules")
	local rows = section:table("modules", {
		{ "module", "text" }, { "names", "count" }, { "file", "text" }, { "version", "text" }, { "address", "address" },
	})
	local count = 0
	for _, interpreter in ipairs(py.interpreters) do
		local found, order = modules.of(py, interpreter)
		if not found then section:note "there is no sys.modules" end
		for _, name in ipairs(order or {}) do
			local ok, err = pcall(function()
				local type = types.of(py, found[name])
				local attributes = type and type.kind == "module" and dict.of_instance(py, found[name], type)
				rows:row(name, attributes and t:value("PyDictObject", attributes).ma_used, text_of(py, attributes, "__file__"),
					text_of(py, attributes, "__version__"), found[name])
			end)
			if not ok then
				py:damaged(found[name], "a module: " .. tostring(err.message or err))
				rows:row(name, nil, nil, nil, found[name])
			end
			count = count + 1
		end
	end
	section:count("count", count)
	py:tell(section)
end

return modules
