-- damage: reports problems that a plugin finds in the target and lets the report continue.
--
-- try and part: unreadable data costs only the part of the answer that needs it. Problems found on the way are kept
-- and reported at the end; the two functions for this serve as methods of the object that represents the inspected
-- run-time:
--
--     VM.damaged = damage.keep
--     function VM:tell(section) damage.tell(self, section, 5) end
local xcore = require "xcore"

local damage = {}

local KEPT = 100

-- ---- unreadable data ----

-- Errors of Lua itself that no memory contents can cause: a missing function, global or module of the plugin.
local MISTAKES = { "attempt to call .* '[%a_]", "%(global '", "module '[^']*' not found", "error loading module '" }

-- Does an error come from the data read? A wild pointer raises a fault, an unbounded length raises a limit error, an
-- unexpected NULL raises an error of Lua itself. Wrong usage by the user ends the command, and so do mistakes of the
-- plugin, such as wrong use of xcore's functions: they keep their places. (Limits of the run also end it; pcall does
-- not catch them.)
function damage.of_memory(err)
	if type(err) == "table" then return err.kind ~= "usage" end
	for _, pattern in ipairs(MISTAKES) do
		if tostring(err):find(pattern) then return false end
	end
	return true
end

function damage.message(err)
	return type(err) == "table" and err.message or tostring(err)
end

-- pcall(fn, ...), which catches only errors caused by memory.
local function call(fn, ...)
	local done, first, second, third = pcall(fn, ...)
	if not done and not damage.of_memory(first) then error(first, 0) end
	return done, first, second, third
end

-- fn(...), or nil and the reason if memory is unreadable or inconsistent.
function damage.try(fn, ...)
	local done, first, second, third = call(fn, ...)
	if done then return first, second, third end
	return nil, damage.message(first)
end

-- A part of an answer, or a field: fn(...), or nil after a problem was added to the section; other parts are
-- unaffected.
function damage.part(section, what, fn, ...)
	local done, first, second, third = call(fn, ...)
	if done then return first, second, third end
	section:problem(what .. " cannot be read", damage.message(first))
end

-- Replaces a section while parts are read before it exists: {text, hint} of each problem, to be reported later.
function damage.problems()
	return { problem = function(self, text, hint) self[#self + 1] = { text, hint } end }
end

-- Runs run(...) as a command: an error caused by memory is reported in terms of the target, not as a place in the
-- plugin.
function damage.guard(run, ...)
	local done, err = call(run, ...)
	if done then return end
	if type(err) ~= "table" then err = xcore.error("format", "the data read is inconsistent", tostring(err)) end
	err.where = nil
	error(err, 0)
end

-- ---- problems ----

-- Records a problem at an address (0: at none).
function damage.keep(self, addr, what)
	self.damages = self.damages or {}
	if #self.damages < KEPT then self.damages[#self.damages + 1] = { addr = addr, what = what } end
end

-- Adds warnings to a section: all that are kept, or the first `shown` and the number of the others, with a hint.
function damage.tell(self, section, shown, hint)
	local list = self.damages or {}
	shown = math.min(#list, shown or #list)
	for i = 1, shown do
		section:warning((list[i].addr ~= 0 and xcore.hex(list[i].addr) .. ": " or "") .. list[i].what)
	end
	if #list > shown then
		section:warning(("and %d%s more"):format(#list - shown, #list < KEPT and "" or " or"), hint)
	end
end

return damage
