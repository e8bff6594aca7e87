-- commands_shm.lua: shm and shdict: arguments in, sections out.
local xcore = require "xcore"
local args = require "lib.args"
local cycle = require "nginx.cycle"
local entries = require "nginx.entries"
local damage = require "lib.damage"
local shdict = require "nginx.shdict"
local slab = require "nginx.slab"
local zones = require "nginx.zones"

local commands = {}

local LIMIT = 100

local function count_of(t, zone)
	if zone.kind == "lua_shared_dict" then return damage.try(shdict.count, t, zone) end
	return entries.count(t, zone)
end

-- Inconsistencies in a zone's slab. In a running process they can be concurrent changes.
local function slab_messages(section, name, look, live)
	if live and not look.agrees then
		section:note(name .. " changed while it was counted")
	elseif look.bad > 0 then
		section:problem(("%s: %d pages of its slab are damaged, the first is page %d"):format(name, look.bad,
			look.bad_page))
	end
	if not live and look.claimed_free and look.claimed_free ~= look.free then
		section:problem(("%s: %d pages are free, but its slab counts %s"):format(name, look.free,
			xcore.u64(look.claimed_free)))
	end
	local failures = 0
	for _, class in ipairs(look.classes) do failures = failures + (class.failures or 0) end
	if failures > 0 then
		section:note(("%s was too full for %s allocations"):format(name, xcore.u64(failures)), "nginx.shm TARGET " .. name)
	end
end

local function show_zones(t, section)
	local rows = section:table("zones", { { "zone", "text" }, { "kind", "text" }, { "size", "bytes" }, { "used", "bytes" }, { "pages", "bytes" },
		{ "free", "bytes" }, { "fill", "ratio" }, { "entries", "count" }, { "address", "address", verbose = true } })
	local total, all = 0, zones.all(t)
	for _, zone in ipairs(all) do
		local look, why = damage.try(slab.look, t, zone.addr)
		local used, pages = nil, nil
		if look then used, pages = slab.used(look) end
		rows:row(zone.name, zone.kind == "other" and zone.module or zone.kind, zone.size, used, pages, look and look.free * look.page_size,
			look and look.count > 0 and 1 - look.free / look.count or nil, (count_of(t, zone)), zone.addr)
		total = total + zone.size
		if look then slab_messages(section, zone.name, look, t.live) else section:problem(zone.name .. ": " .. why) end
	end
	section:headline(("%d zones of shared memory, %.1f MiB"):format(#all, total / (1 << 20)))
end

local function show_slab(t, section, zone)
	local look = slab.look(t, zone.addr)
	local used, pages = slab.used(look)
	section:bytes("used", used, { label = "used by items" })
	section:bytes("pages", pages, { label = "pages with items" })
	section:bytes("free", look.free * look.page_size, { label = "free pages" })
	section:bytes("largest_free", look.largest * look.page_size, { label = "largest free run" })
	section:count("free_runs", look.free_runs)
	section:bytes("whole_pages", look.whole * look.page_size, { label = "allocations of whole pages" })
	section:ratio("held_back", pages > 0 and 1 - used / pages or nil, { label = "of pages with items, empty" })
	section:bytes("overhead", zone.size - look.count * look.page_size)
	local rows = section:table("classes", { { "item", "bytes" }, { "pages", "count" }, { "items", "count" }, { "used", "count" },
		{ "fill", "ratio" }, { "requests", "count" }, { "failures", "count" } })
	for _, class in ipairs(look.classes) do
		rows:row(class.size, class.pages, class.items, class.used, class.items > 0 and class.used / class.items or nil,
			class.requests, class.failures)
		if not t.live and class.own_used and (class.own_used ~= class.used or class.own_items ~= class.items) then
			section:problem(("items of %d bytes: %d of %d are used, but the slab counts %s of %s"):format(class.size,
				class.used,
				class.items, xcore.u64(class.own_used), xcore.u64(class.own_items)))
		end
	end
	slab_messages(section, zone.name, look, t.live)
end

local function cut(section, count, limit, why)
	if why then section:problem("its queue is damaged: " .. why) end
	if count and count > limit then section:note(("only %d of %d are shown"):format(limit, count), "--limit N shows more") end
end

local function show_zone(t, report, name, limit)
	local zone = zones.named(t, name)
	local section = report:section("zone", "nginx: zone " .. name)
	section:text("kind", zone.kind)
	section:text("module", zone.module)
	section:bytes("size", zone.size)
	section:address("address", zone.addr)
	show_slab(t, section, zone)
	local kind = entries.KINDS[zone.kind]
	if zone.kind == "lua_shared_dict" then
		section:count("entries", (damage.try(shdict.count, t, zone)))
		section:note("nginx.shdict " .. name .. " lists its keys")
	elseif kind then
		local count, why = kind.show(t, zone, section, limit)
		section:count("entries", count)
		cut(section, count, limit, why)
	end
end

function commands.shm(t, report, list)
	local options = args.parse(list, { limit = "number" }, 1)
	if options[1] then return show_zone(t, report, options[1], options.limit or LIMIT) end
	show_zones(t, report:section("shm", "nginx: shared memory"))
end

-- nginx's clock, in milliseconds since 1970.
local function milliseconds(t)
	local _, now = cycle.now(t)
	return now and math.floor(now * 1000 + 0.5)
end

-- The remaining seconds of an entry; negative if it is overdue, nil if it never expires.
local function left(found, i, now)
	if found.expires[i] == 0 or not now then return nil end
	return (found.expires[i] - now) / 1000
end

local function value_text(t, found, i)
	if shdict.kind(found, i) == "list" then return ("%d elements"):format(found.value_len[i]) end
	return (damage.try(shdict.value, t, found, i))
end

local COLUMNS = { { "position", "count", label = "LRU" }, { "key", "text", secret = true }, { "type", "text" }, { "value", "text", secret = true },
	{ "memory", "bytes" }, { "expires_in", "seconds", label = "TIME LEFT" }, { "flags", "integer" } }

local function show_totals(t, section, found, count, now)
	local bytes, expiring, overdue, kinds = 0, 0, 0, {}
	for i = 1, count do
		bytes = bytes + shdict.bytes(t, found, i)
		local seconds = left(found, i, now)
		if seconds then expiring = expiring + 1 end
		if seconds and seconds < 0 then overdue = overdue + 1 end
		local kind = shdict.kind(found, i)
		kinds[kind] = (kinds[kind] or 0) + 1
	end
	section:count("keys", count)
	section:bytes("memory", bytes, { label = "memory of entries" })
	section:count("expiring", expiring, { label = "with a time" })
	section:count("overdue", overdue, { label = "overdue, not yet dropped" })
	for kind, number in pairs(kinds) do section:count("keys_" .. kind:gsub("%W", "_"), number, { label = kind .. " keys" }) end
end

-- Queue and tree must have the same keys, except in a process that changes them during the read.
local function show_tree(t, section, found, why)
	section:count("tree_height", found.height)
	if t.live then
		if why then
			section:note "the dictionary changed during the read: keys may be missing, and the order is not exact"
		end
	elseif why then
		section:problem("it is damaged: " .. why)
	elseif found.nodes ~= found.queued then
		section:problem(("its tree has %d keys, but its queue has %d"):format(found.nodes, found.queued))
	end
end

local function show_keys(t, section, zone, options)
	local found, count, why = shdict.entries(t, zone)
	show_tree(t, section, found, why)
	local now, shown, limit, more = milliseconds(t), 0, options.limit or LIMIT, 0
	show_totals(t, section, found, count, now)
	local rows = section:table("keys", COLUMNS)
	for i = 1, count do
		if shown == limit and not options.match then break end
		local key = damage.try(shdict.key, t, found, i)
		if not options.match or key and key:find(options.match, 1, true) then
			if shown < limit then
				rows:row(i, key, shdict.kind(found, i), value_text(t, found, i), shdict.bytes(t, found, i), left(found, i, now), found.flags[i])
				shown = shown + 1
			else
				more = more + 1
			end
		end
	end
	cut(section, options.match and shown + more or count, limit)
end

local function show_key(t, section, zone, key)
	local found, count = shdict.entries(t, zone)
	local i = shdict.find(t, found, count, key)
	if not i then return section:note "no such key" end
	section:text("type", shdict.kind(found, i))
	section:text("value", value_text(t, found, i), { secret = true })
	section:bytes("memory", shdict.bytes(t, found, i))
	section:seconds("expires_in", left(found, i, milliseconds(t)), { label = "time left" })
	section:integer("flags", found.flags[i])
	section:text("position", ("%d of %d, most recently used first"):format(i, count))
	section:address("address", found.at[i])
	local elements = shdict.elements(t, found, i, LIMIT)
	if elements then
		local rows = section:table("elements", { { "type", "text" }, { "value", "text", secret = true } })
		for _, element in ipairs(elements) do rows:row(element.type, element.value) end
	end
end

function commands.shdict(t, report, list)
	local options = args.parse(list, { limit = "number", match = "text" }, 2)
	local zone = zones.named(t, options[1], "lua_shared_dict")
	local section = report:section("shdict", ("nginx: lua_shared_dict %s"):format(zone.name))
	section:bytes("capacity", zone.size)
	local look = damage.try(slab.look, t, zone.addr)
	section:bytes("free", look and look.free * look.page_size, { label = "free pages" })
	if options[2] then show_key(t, section, zone, options[2]) else show_keys(t, section, zone, options) end
end

return commands
