-- fault.lua: errors of the plugin, in the form of the API's errors.
local xcore = require "xcore"
local damage = require "lib.damage"

local fault = { of_memory = damage.of_memory, try = damage.try, message = damage.message }

-- Raises: the data in the target is inconsistent.
function fault.raise(format, ...)
	error(xcore.error("fault", format:format(...)))
end

-- Raises: the data changed during the read.
function fault.torn()
	error(xcore.error("torn", "the data changed during the read"))
end

-- Raises: the user asks for something impossible.
function fault.usage(format, ...)
	error(xcore.error("usage", format:format(...)))
end

return fault
