-- ask.lua QUESTION…: the answers of several commands of plugins, from one process. A question is "PLUGIN.COMMAND", or "PLUGIN" for what it
-- adds to `xcore analyze`, and its arguments, separated by tabs. Sections of question N have keys that begin with qN_; qN_error says
-- why there are none, or no more, and of which kind the error is: none for one of Lua's own.
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
