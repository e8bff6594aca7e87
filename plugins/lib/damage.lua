-- damage: what a plugin finds wrong on its way is said, and the report goes on.
--
-- What cannot be read costs the part of an answer that needs it: try and part. What is found wrong by the way is kept and told at the
-- end; these two serve as methods of whatever stands for the run-time that is looked at:
--
--     VM.damaged = damage.keep
--     function VM:tell(section) damage.tell(self, section, 5) end
local xcore = require "xcore"

local damage = {}

local KEPT = 100

-- ---- what cannot be read ----

-- Errors of Lua's own that no memory brings about: what the plugin calls by a name is not there, nor is a global, nor a module.
local MISTAKES = { "attempt to call .* '[%a_]", "%(global '", "module '[^']*' not found", "error loading module '" }

-- Does an error come from what was read? A pointer to nowhere raises a fault, a length without end a limit of what is asked for at once,
-- NULL where the program never has it an error of Lua's own. What the user asks for wrongly ends the command, and so do mistakes of the
-- plugin, such as the wrong use of xcore's functions: they keep their places. (So do limits of the run: no pcall holds them.)
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

-- pcall(fn, ...), out of which only errors of memory come.
local function call(fn, ...)
	local done, first, second, third = pcall(fn, ...)
	if not done and not damage.of_memory(first) then error(first, 0) end
	return done, first, second, third
end

-- fn(...), or nil and the reason when memory cannot be read or makes no sense.
function damage.try(fn, ...)
	local done, first, second, third = call(fn, ...)
	if done then return first, second, third end
	return nil, damage.message(first)
end

-- A part of an answer, or a field: fn(...), or nil when it cannot be told, which is a problem in the section; the other parts stand.
function damage.part(section, what, fn, ...)
	local done, first, second, third = call(fn, ...)
	if done then return first, second, third end
	section:problem(what .. " cannot be read", damage.message(first))
end

-- What stands for a section where parts are read before there is one: {text, hint} of each problem, to be told later.
function damage.problems()
	return { problem = function(self, text, hint) self[#self + 1] = { text, hint } end }
end

-- run(...) as a command: what of memory ends it is told in words of the target's, not as a place in the plugin.
function damage.guard(run, ...)
	local done, err = call(run, ...)
	if done then return end
	if type(err) ~= "table" then err = xcore.error("format", "the data read is inconsistent", tostring(err)) end
	err.where = nil
	error(err, 0)
end

-- ---- what is wrong ----

-- Something is not as it should be, at an address (0: at none).
function damage.keep(self, addr, what)
	self.damages = self.damages or {}
	if #self.damages < KEPT then self.damages[#self.damages + 1] = { addr = addr, what = what } end
end

-- Warnings in a section: all that is kept, or the first `shown` and how many more there are, with a hint at what tells them.
function damage.tell(self, section, shown, hint)
	local list = self.damages or {}
	shown = math.min(#list, shown or #list)
	for i = 1, shown do
		section:warning((list[i].addr ~= 0 and xcore.hex(list[i].addr) .. ": " or "") .. list[i].what)
	end
	if #list > shown then section:warning(("and %d%s more"):format(#list - shown, #list < KEPT and "" or " or"), hint) end
end

return damage
