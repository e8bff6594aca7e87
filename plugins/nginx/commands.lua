-- commands.lua: the plugin's commands: arguments in, sections out.
local args = require "nginx.args"
local cycle = require "nginx.cycle"

local commands = {}

function commands.cycle(t, report, list)
	args.parse(list, {})
	local section = report:section("cycle", "nginx")
	section:text("version", cycle.version(t))
	section:text("role", (cycle.role(t)))
end

return commands
