-- commands_memory.lua: the memory table of the process, and the part of it in `analyze`.
local args = require "lib.args"
local memory = require "nginx.memory"

local damage = require "lib.damage"
local slab = require "nginx.slab"
local zones = require "nginx.zones"

local commands = {}

local LARGE = 0.1 -- unaccounted share that is worth a note

-- For a running process: resident memory by mapping. malloc memory is not divided: pages contain blocks of all kinds.
local function show_resident(section, ledger)
	local found, sum = memory.resident(ledger)
	if not found then return section:note "the kernel does not report resident memory" end
	local rows = section:table("resident", { { "what", "text", label = "IN MEMORY" }, { "bytes", "bytes" }, { "share", "ratio" },
		{ "key", "text", verbose = true } })
	for _, row in ipairs(found) do rows:row(row.label, row.bytes, row.bytes / math.max(1, sum), row.key) end
	rows:row("resident (RSS)", sum, sum > 0 and 1 or nil, "rss")
end

function commands.memory(t, report, list)
	args.parse(list, {})
	local section, ledger = report:section("memory", "nginx: memory"), memory.ledger(t)
	local rows, sum = section:table("ledger", { { "what", "text", label = "MEMORY" }, { "bytes", "bytes" }, { "share", "ratio" },
		{ "key", "text", verbose = true } }), 0
	for _, row in ipairs(memory.rows(ledger)) do
		rows:row(row.label, row.bytes, row.bytes / math.max(1, ledger.mapped), row.key)
		sum = sum + row.bytes
	end
	rows:row("all that is mapped", ledger.mapped, ledger.mapped > 0 and 1 or nil, "mapped")
	if t.live then show_resident(section, ledger) end
	section:integer("difference", ledger.mapped - sum, { quiet = sum == ledger.mapped })
	if sum ~= ledger.mapped then
		section:problem(("the rows differ from the mapped memory by %d bytes"):format(ledger.mapped - sum))
	end
	local unknown = ledger.bytes.unaccounted or 0
	if unknown > LARGE * ledger.mapped then
		section:note("much anonymous memory has no known owner", "xcore heap summary TARGET")
	end
	for _, why in ipairs(ledger.why) do section:problem(why) end
end

-- Reports zones that were too full.
local function suspicious_zones(t, section, all)
	for _, zone in pairs(all) do
		local look, failures = slab.look(t, zone.addr), 0
		for _, class in ipairs(look.classes) do failures = failures + (class.failures or 0) end
		if look.bad > 0 and not t.live then section:problem(("the slab of %s is damaged"):format(zone.name), "nginx.shm TARGET " .. zone.name) end
		if failures > 0 then
			section:warning(("%s %s was too full for %d allocations"):format(zone.kind, zone.name, failures), "nginx.shm TARGET " .. zone.name)
		end
	end
end

local function suspicious_pools(section, ledger)
	local leaked, bytes = 0, 0
	for _, one in ipairs(ledger.pools) do
		if one.kind == "leaked" or one.kind == "request without owner" then leaked, bytes = leaked + 1, bytes + one.total end
	end
	if leaked > 0 then
		section:warning(("%d pools, %.1f MiB, have no owner: they leaked"):format(leaked, bytes / (1 << 20)),
			"nginx.pools TARGET --kind leaked")
	end
end

local function add_groups(t, section)
	local ledger = memory.ledger(t)
	local rows = section:table("groups", { { "what", "text", label = "MEMORY" }, { "bytes", "bytes" }, { "share", "ratio" } })
	for _, row in ipairs(memory.groups(ledger)) do rows:row(row.label, row.bytes, row.bytes / math.max(1, ledger.mapped)) end
	rows:row("all that is mapped", ledger.mapped, ledger.mapped > 0 and 1 or nil)
	damage.try(suspicious_zones, t, section, ledger.zones)
	suspicious_pools(section, ledger)
	section:note "nginx.memory splits pools and zones by kind; nginx.pools and nginx.shm list each"
	return true
end

-- A few rows of the table, and suspicious findings. For a running process this would read all memory, so it needs an
-- explicit command.
function commands.analyze(t, report)
	local section = report:section("memory", "nginx: memory")
	local done, why
	if t.live then
		done, why = damage.try(suspicious_zones, t, section, zones.all(t))
		section:note("the full table needs all memory of the process", "nginx.memory TARGET, nginx.pools TARGET")
	else
		done, why = damage.try(add_groups, t, section)
	end
	if why and not done then section:problem("memory cannot be read: " .. why) end
end

return commands
