-- The commands: arguments in, sections out.
local xcore = require "xcore"
local args = require "lib.args"
local layout = require "luajit.layout"
local vm = require "luajit.vm"

local commands = {}

-- The VM (--vm ADDR), and the other arguments as args.parse returns them.
function commands.options(t, list, known, most)
	known.vm = "number"
	local parsed = args.parse(list, known, most)
	return vm.one(t, parsed.vm), parsed
end

function commands.vms(t, report, given)
	args.parse(given, {})
	local section = report:section("vms", "LuaJIT VMs")
	local rows = section:table(
		"vms",
		{
			{ "state", "address" },
			{ "main", "address", label = "MAIN THREAD" },
			{ "total", "bytes" },
			{ "found", "text", label = "FOUND BY" },
		}
	)
	local all, broken = vm.all(t)
	for _, found in ipairs(all) do
		rows:row(found.addr, found.main, found.g.gc.total, table.concat(found.ways, "; "))
	end
	section:text("layout", layout.describe(t))
	for _, one in ipairs(broken) do
		section:warning(("the VM at %s was not fully initialised, or is damaged: %s"):format(xcore.hex(one.addr),
			one.why))
	end
end

function commands.gc(t, report, given)
	local found = commands.options(t, given, {})
	local section = report:section("gc", "LuaJIT's garbage collector")
	require("luajit.gc").report(found, section)
	found:tell(section)
end

return commands
