-- fault.lua: errors of the plugin's own, of the same form as the API's.
local xcore = require "xcore"
local damage = require "lib.damage"

local fault = { of_memory = damage.of_memory, try = damage.try, message = damage.message }

-- Raise: what was found in the target makes no sense.
function fault.raise(format, ...)
	error(xcore.error("fault", format:format(...)))
end

-- Raise: what was read has changed meanwhile.
function fault.torn()
	error(xcore.error("torn", "the data changed during the read"))
end

-- Raise: what the user asks for cannot be.
function fault.usage(format, ...)
	error(xcore.error("usage", format:format(...)))
end

return fault
