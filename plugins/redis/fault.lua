-- fault.lua: errors of the plugin's own, of the same form as the API's.
local fault = {}

local meta = { __tostring = function(err) return err.message end }

-- Raise: what was found in the target makes no sense.
function fault.raise(format, ...)
	error(setmetatable({ kind = "fault", message = format:format(...) }, meta))
end

-- Raise: what the user asks for cannot be.
function fault.usage(format, ...)
	error(setmetatable({ kind = "usage", message = format:format(...) }, meta))
end

-- Is it about the target's memory, or that it changed meanwhile? Then it costs what could not be read; anything else ends the command.
function fault.of_memory(err)
	return type(err) == "table" and (err.kind == "fault" or err.kind == "absent" or err.kind == "torn")
end

-- fn(...), or nil and the reason when memory cannot be read or makes no sense.
function fault.try(fn, ...)
	local done, result = pcall(fn, ...)
	if done then return result end
	if not fault.of_memory(result) then error(result, 0) end
	return nil, result.message
end

return fault
