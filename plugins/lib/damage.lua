-- damage: what a plugin finds wrong on its way is kept, so that a report goes on, and is told at its end.
--
-- The two functions serve as methods of whatever stands for the run-time that is looked at:
--
--     VM.damaged = damage.keep
--     function VM:tell(section) damage.tell(self, section, 5) end
local xcore = require "xcore"

local damage = {}

local KEPT = 100

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
