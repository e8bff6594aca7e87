-- commands_pools.lua: pools, and their flame graph.
local xcore = require "xcore"
local args = require "lib.args"
local damage = require "lib.damage"
local pool = require "nginx.pool"
local pools = require "nginx.pools"

local commands = {}

local LIMIT = 20
local BYTES = { "bytes", "used", "free", "waste", "large", "large_bytes", "blocks", "total", "unsized", "cleanup_count" }

local function by_kind(all)
	local kinds, list = {}, {}
	for _, one in ipairs(all) do
		local sum = kinds[one.kind]
		if not sum then
			sum = { kind = one.kind, pools = 0 }
			for _, key in ipairs(BYTES) do sum[key] = 0 end
			kinds[one.kind], list[#list + 1] = sum, sum
		end
		sum.pools = sum.pools + 1
		for _, key in ipairs(BYTES) do sum[key] = sum[key] + one[key] end
	end
	table.sort(list, function(a, b)
		if a.total ~= b.total then return a.total > b.total end
		return a.kind < b.kind
	end)
	return list
end

local SUMS = { { "total", "bytes" }, { "blocks", "count", verbose = true }, { "used", "bytes" }, { "free", "bytes", verbose = true },
	{ "waste", "bytes" }, { "large", "count", label = "LARGE ONES", verbose = true }, { "large_bytes", "bytes", label = "LARGE" },
	{ "cleanups", "count", verbose = true } }

local function columns(...)
	local list = { ... }
	table.move(SUMS, 1, #SUMS, #list + 1, list)
	return list
end

local function sums(one)
	return one.total, one.blocks, one.used, one.free, one.waste, one.large, one.large_bytes, one.cleanup_count
end

local function show_kinds(section, kinds)
	local rows = section:table("kinds", columns({ "kind", "text" }, { "pools", "count" }))
	local all, bytes = 0, 0
	for _, one in ipairs(kinds) do
		rows:row(one.kind, one.pools, sums(one))
		all, bytes = all + one.pools, bytes + one.total
	end
	section:headline(("%d pools, %.2f MiB"):format(all, bytes / (1 << 20)))
end

local function show_pools(section, all, limit)
	local list = columns({ "pool", "address" }, { "kind", "text" })
	list[#list + 1] = { "owner", "text", secret = true }
	local rows = section:table("pools", list)
	for i = 1, math.min(limit, #all) do
		local one = all[i]
		local values = table.pack(one.addr, one.kind, sums(one))
		values[values.n + 1] = one.text
		rows:row(table.unpack(values, 1, values.n + 1))
	end
	if #all > limit then section:note(("the %d largest of %d"):format(limit, #all), "--limit N shows more") end
end

local function messages(section, all, lost, live)
	local leaked, bytes, damaged, unsized = 0, 0, 0, 0
	local first
	for _, one in ipairs(all) do
		if one.kind == "leaked" or one.kind == "request without owner" then leaked, bytes = leaked + 1, bytes + one.total end
		if one.why then damaged, first = damaged + 1, first or ("%s: %s"):format(xcore.hex(one.addr), one.why) end
		unsized = unsized + one.unsized
	end
	if leaked > 0 then
		section:warning(("%d pools of %.2f MiB have no owner: they leaked"):format(leaked, bytes / (1 << 20)),
			"nginx.pools TARGET --kind leaked")
	end
	if live then
		if damaged + lost.bad > 0 then section:note(("%d pools changed during the read"):format(damaged + lost.bad)) end
		return
	end
	if damaged > 0 then section:problem(("%d pools are damaged, the first at %s"):format(damaged, first)) end
	if lost.bad > 0 then section:problem(("%d pools cannot be read: %s"):format(lost.bad, lost.why or "?")) end
	if unsized > 0 then
		section:note(("%d large allocations are in no known heap: their bytes are missing"):format(unsized))
	end
end

local function show_one(t, report, addr)
	local one = damage.try(pool.read, t, addr, pool.sizer(t))
	if not one then
		error(xcore.error("usage", "there is no pool at " .. xcore.hex(addr),
			"nginx.pools lists pools by the address of their first block"))
	end
	local section = report:section("pool", "nginx: pool " .. xcore.hex(addr))
	section:bytes("total", one.total)
	section:bytes("in_blocks", one.bytes)
	section:bytes("used", one.used)
	section:bytes("free", one.free)
	section:bytes("waste", one.waste)
	section:bytes("large_bytes", one.large_bytes, { label = "large" })
	if one.why then section:problem(one.why) end
	local rows = section:table("blocks", { { "block", "address" }, { "size", "bytes" }, { "free", "bytes" } })
	for i = 1, one.blocks do
		local at, last, finish = one.list[1][i], one.list["d.last"][i], one.list["d.end"][i]
		rows:row(at, finish - at, finish - last)
	end
	local size, large = pool.sizer(t), section:table("large", { { "large", "address" }, { "size", "bytes" } })
	for _, at in ipairs(one.allocations) do large:row(at, (size(at))) end
	local cleanups = section:table("cleanups", { { "cleanup", "text" }, { "data", "address" } })
	for _, cleanup in ipairs(one.cleanups) do cleanups:row(xcore.symbol(cleanup.handler) or xcore.hex(cleanup.handler), cleanup.data) end
end

function commands.pools(t, report, list)
	local options = args.parse(list, { limit = "number", kind = "text" }, 1)
	if options[1] then return show_one(t, report, args.number("ADDRESS", options[1])) end
	local all, lost = pools.all(t)
	local section, shown = report:section("pools", "nginx: pools"), all
	if options.kind then
		shown = {}
		for _, one in ipairs(all) do
			if one.kind:find(options.kind, 1, true) then shown[#shown + 1] = one end
		end
	end
	if options.kind and #shown == 0 then
		local names = {}
		for i, one in ipairs(by_kind(all)) do names[i] = one.kind end
		section:note(("no pool has the kind '%s'"):format(options.kind), "there are " .. table.concat(names, ", "))
	end
	show_kinds(section, by_kind(shown))
	show_pools(section, shown, options.limit or LIMIT)
	messages(section, all, lost, t.live)
end

-- The name of a pool's owner in a flame graph, which is never redacted: without arguments and peers.
local function frame_of(one)
	if not one.text or one.kind == "leaked" then return xcore.hex(one.addr) end
	return (one.text:gsub("%?%S*", ""):gsub(" [^ ]+:%d+$", ""):gsub(" unix:.*$", ""))
end

-- Bytes by kind, owner and use.
function commands.flame(t, tree)
	local all = pools.all(t)
	for _, one in ipairs(all) do
		local owner = frame_of(one)
		local headers = one.bytes - one.used - one.free - one.waste
		for _, part in ipairs { { "used", one.used }, { "free", one.free }, { "waste", one.waste }, { "headers", headers },
			{ "large", one.large_bytes } } do
			if part[2] > 0 then tree:add({ one.kind, owner, part[1] }, part[2]) end
		end
	end
end

return commands
