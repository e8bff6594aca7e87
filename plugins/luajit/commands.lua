-- The commands: arguments in, sections out.
local xcore = require "xcore"
local layout = require "luajit.layout"
local vm = require "luajit.vm"

local commands = {}

-- The options of all commands: --vm ADDR. Returns the VM and the other arguments.
local function parse(t, args)
	local rest, addr, i = {}, nil, 1
	while i <= #args do
		if args[i] == "--vm" then
			addr = math.tointeger(tonumber(args[i + 1] or ""))
			if not addr then error(xcore.error("usage", "--vm needs an address", "luajit.vms shows addresses")) end
			i = i + 1
		else
			rest[#rest + 1] = args[i]
		end
		i = i + 1
	end
	return vm.one(t, addr), rest
end
commands.parse = parse

local function takes_none(rest)
	if rest[1] then error(xcore.error("usage", ("unexpected argument '%s'"):format(rest[1]))) end
end

function commands.vms(t, report, args)
	takes_none(args)
	local section = report:section("vms", "LuaJIT VMs")
	local rows = section:table("vms", { { "state", "address" }, { "main", "address", label = "MAIN THREAD" }, { "total", "bytes" }, { "found", "text", label = "FOUND BY" } })
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

function commands.gc(t, report, args)
	local found, rest = parse(t, args)
	takes_none(rest)
	local section = report:section("gc", "LuaJIT's garbage collector")
	require("luajit.gc").report(found, section)
	found:tell(section)
end

return commands
