-- questions.lua: tests/plugin/cpython's questions to a target, in one process. Each argument is a command of the plugin
-- ("refs 0x7f… --limit 9"); its sections get the number of the question as a prefix. Also prints every object, and the
-- referrers of the addresses after "referrers", as lines.
local xcore = require "xcore"
local runtime = require "cpython.runtime"
local collector = require "cpython.collector"
local graph = require "cpython.graph"
local label = require "cpython.label"
local objects = require "cpython.objects"
local types = require "cpython.types"
local commands = require("cpython.init").commands
local t = xcore.target

local py = runtime.of(t)
function runtime.of() return py end -- one graph for all

local ASK = {}

function ASK.everything()
	local tracked = {}
	for name, list in pairs((collector.tracked(py))) do
		if name ~= "permanent generation" then -- gc.get_objects leaves it out
			for _, addr in ipairs(list) do tracked[addr] = true end
		end
	end
	objects.each(py, function(type, addresses, sizes)
		for i, addr in ipairs(addresses) do
			print("object", ("%x"):format(addr), type.name, sizes[i], tracked[addr] and 1 or 0)
			if type.kind ~= "type" and types.at(py, addr) then print("no type", ("%x"):format(addr), type.name) end
		end
	end)
end

function ASK.referrers(words)
	local g = graph.of(py)
	for i = 2, #words do
		local wanted = tonumber(words[i])
		for _, holder in ipairs((g:referrers((g:find(wanted)), 100000))) do
			print("referrer", words[i], ("0x%x"):format(holder), label.of(py, holder, wanted) or "")
		end
	end
end

for i, question in ipairs(arg) do
	local words = {}
	for word in question:gmatch "%S+" do words[#words + 1] = word end
	if ASK[words[1]] then
		ASK[words[1]](words)
	else
		local report = { section = function(_, key, title) return xcore.report:section(("q%d_%s"):format(i, key), title) end }
		local ok, why = pcall(commands[words[1]].run, t, report, table.move(words, 2, #words, 1, {}))
		if not ok then print("failed", i, tostring(why.message or why)) end
	end
end
