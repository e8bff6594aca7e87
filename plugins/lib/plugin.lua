-- plugin: commands and flame graphs of a plugin, for its init.lua. The modules are loaded when they are used.
--
--     local command, flame = require("lib.plugin").of "redis"
--     commands = { keys = command("commands", "keys", "keys with type and memory", "[--limit N]") },
--     flames = { memory = flame("commands", "flame", "memory of keys by database", "bytes") },
local plugin = {}

-- The two functions of the plugin `name`. prepare(t), if any, runs before each command.
function plugin.of(name, prepare)
	-- An error caused by memory is reported in terms of the target.
	local function guarded(before, module, entry, ...)
		require("lib.damage").guard(function(t, ...)
			if before then before(t) end
			require(name .. "." .. module)[entry](t, ...)
		end, ...)
	end
	local function command(module, entry, about, usage)
		return {
			about = about, usage = usage,
			run = function(t, report, args) guarded(prepare, module, entry, t, report, args) end,
		}
	end
	local function flame(module, entry, about, unit)
		return { about = about, unit = unit, run = function(t, tree) guarded(nil, module, entry, t, tree) end }
	end
	return command, flame
end

return plugin
