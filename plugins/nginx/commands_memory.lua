-- commands_memory.lua: memory: the ledger of the process.
local args = require "nginx.args"
local memory = require "nginx.memory"

local commands = {}

local LARGE = 0.1 -- so much unaccounted is worth a word

function commands.memory(t, report, list)
	args.parse(list, {})
	local section, ledger = report:section("memory", "nginx: memory"), memory.ledger(t)
	local rows, sum = section:table("ledger", { { "what", "text", label = "memory" }, { "bytes", "bytes" }, { "share", "ratio" },
		{ "key", "text", verbose = true } }), 0
	for _, row in ipairs(memory.rows(ledger)) do
		rows:row(row.label, row.bytes, row.bytes / math.max(1, ledger.mapped), row.key)
		sum = sum + row.bytes
	end
	rows:row("all that is mapped", ledger.mapped, ledger.mapped > 0 and 1 or nil, "mapped")
	section:integer("difference", ledger.mapped - sum, { quiet = sum == ledger.mapped })
	if sum ~= ledger.mapped then section:problem(("the rows are %d bytes off what is mapped"):format(ledger.mapped - sum)) end
	local unknown = ledger.bytes.unaccounted or 0
	if unknown > LARGE * ledger.mapped then section:note("much anonymous memory is nobody's that is known here", "xcore heap summary TARGET") end
	for _, why in ipairs(ledger.why) do section:problem(why) end
end

return commands
