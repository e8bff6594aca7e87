-- report: Lua in `xcore analyze`: its memory, and its position.
local xcore = require "xcore"
local bt = require "puclua.bt"
local frame = require "puclua.frame"
local vm_of = require "puclua.vm"

local report = {}

local SHOWN = 3 -- states

local function add_state(vm, section, suffix)
	section:bytes("total" .. suffix, vm:total(), { label = "Lua's memory" })
	local running, guessed = bt.running(vm)
	for i, one in ipairs(frame.list(vm, running)) do
		if one.pt then
			section:text("at" .. suffix, ("%s:%s in %s%s"):format(one.source, one.line or "?", frame.name(vm, one, frame.list(vm, running)[i + 1]),
				guessed and " (a guess: no native frame shows the running thread)" or ""))
			break
		end
	end
	vm:tell(section)
end

-- A program with Lua's code may have no state yet, or use it in none of its processes: nothing is reported then.
function report.analyze(t, to)
	local list = vm_of.all(t, true)
	if #list == 0 then return end
	local section = to:section("puclua", "Lua")
	section:text("version", "structs as in Lua " .. list[1].layout.version)
	if #list > 1 then section:count("states", #list) end
	for i = 1, math.min(#list, SHOWN) do add_state(list[i], section, i > 1 and "_" .. i or "") end
	section:note("puclua.bt shows the Lua stack",
		"xcore run puclua.bt TARGET; puclua.gc, puclua.path and puclua.retained show memory")
end

return report
