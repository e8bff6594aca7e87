-- The commands: arguments in, sections out.
local xcore = require "xcore"
local args = require "lib.args"
local vm = require "puclua.vm"

local commands = {}

-- The state (--vm ADDR), and the other arguments as args.parse returns them.
function commands.options(t, list, known, most)
	known.vm = "number"
	local parsed = args.parse(list, known, most)
	return vm.one(t, parsed.vm), parsed
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

function commands.gc(t, report, given)
	local found = commands.options(t, given, {})
	local section = report:section("gc", "Lua's garbage collector")
	require("puclua.gc").report(found, section)
	found:tell(section)
end

return commands
