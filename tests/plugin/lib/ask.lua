-- ask.lua QUESTION…: the answers of several plugin commands, from one process. A question is "PLUGIN.COMMAND" with its
-- arguments, separated by tabs, or "PLUGIN" for its part of `xcore analyze`. The keys of question N's sections start with
-- qN_. qN_error gives the reason for missing sections and the kind of the error (none for one of Lua's own).
local xcore = require "xcore"
local t, report = xcore.target, xcore.report

for number, question in ipairs { ... } do
	local words = {}
	for word in (question .. "\t"):gmatch "([^\t]*)\t" do words[#words + 1] = word end
	local plugin, command = table.remove(words, 1):match "^(%w+)%.?(.*)$"
	local own = {
		section = function(_, key, title) return report:section(("q%d_%s"):format(number, key), title) end,
	}
	local ok, why = pcall(function()
		local manifest = require(plugin .. ".init")
		if command == "" then
			manifest.analyze(t, own)
		else
			manifest.commands[command].run(t, own, words)
		end
	end)
	if not ok then
		local section, of_xcore = own:section "error", type(why) == "table"
		section:text("why", of_xcore and why.message or tostring(why))
		section:text("kind", of_xcore and why.kind or nil)
	end
end
