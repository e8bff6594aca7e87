-- fault.lua: errors of the plugin's own, of the same form as the API's.
local xcore = require "xcore"

local fault = {}

-- Raise: what was found in the target makes no sense.
function fault.raise(format, ...)
	error(xcore.error("fault", format:format(...)))
end

-- Raise: what was read has changed meanwhile.
function fault.torn()
	error(xcore.error("torn", "what was read changed meanwhile"))
end

-- Raise: what the user asks for cannot be.
function fault.usage(format, ...)
	error(xcore.error("usage", format:format(...)))
end

-- Does an error come from what was read? A pointer to nowhere, or one that is NULL where Redis never has one: that costs what could
-- not be read. What the user asks for, and limits, end the command.
function fault.of_memory(err)
	return type(err) ~= "table" or err.kind ~= "usage" and err.kind ~= "limit"
end

function fault.message(err)
	return type(err) == "table" and err.message or tostring(err)
end

-- fn(...), or nil and the reason when memory cannot be read or makes no sense.
function fault.try(fn, ...)
	local done, result = pcall(fn, ...)
	if done then return result end
	if not fault.of_memory(result) then error(result, 0) end
	return nil, fault.message(result)
end

return fault
