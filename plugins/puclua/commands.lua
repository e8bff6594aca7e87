-- The commands: arguments in, sections out.
local xcore = require "xcore"
local vm = require "puclua.vm"

local commands = {}

local function number(name, text)
	local found = math.tointeger(tonumber(text or ""))
	if not found or found < 0 then error(xcore.error("usage", ("--%s needs a number"):format(name))) end
	return found
end

-- The state (--vm ADDR), and a table: options described by `known` ({ limit = "number", locals = "flag" }), and other
-- arguments from 1, at most `most`.
function commands.parse(t, args, known, most)
	local parsed, addr, i = {}, nil, 1
	while i <= #args do
		local name = args[i]:match "^%-%-(.+)$"
		local kind = name and (name == "vm" and "number" or known and known[name])
		if name and not kind then error(xcore.error("usage", "unknown option --" .. name)) end
		if not kind then
			parsed[#parsed + 1] = args[i]
		elseif kind == "flag" then
			parsed[name] = true
		else
			i = i + 1
			parsed[name] = kind == "number" and number(name, args[i]) or args[i]
		end
		i = i + 1
	end
	if #parsed > (most or 0) then error(xcore.error("usage", ("unexpected argument '%s'"):format(parsed[#parsed]))) end
	addr = parsed.vm
	return vm.one(t, addr), parsed
end

function commands.vms(t, report)
	local section = report:section("vms", "Lua states")
	local rows = section:table("vms", {
		{ "state", "address" }, { "main", "address", label = "MAIN THREAD" }, { "total", "bytes" }, { "found", "text", label = "FOUND BY" },
	})
	local all = vm.all(t)
	for _, found in ipairs(all) do
		rows:row(found.addr, xcore.addr(found.main), found:total(), table.concat(found.ways, "; "))
	end
	if all[1] then
		section:text("layout", ("as in Lua %s, %s"):format(all[1].layout.version,
			all[1].layout.declared and "the published layout: it has no debug information" or "from debug information"))
	end
	if not all[1] then section:note "no Lua state was found in this process" end
end

function commands.gc(t, report, args)
	local found = commands.parse(t, args)
	local section = report:section("gc", "Lua's garbage collector")
	require("puclua.gc").report(found, section)
	found:tell(section)
end

return commands
