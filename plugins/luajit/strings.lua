-- strings: the table in which LuaJIT interns strings (lj_str.c): their number, the length of chains, large strings,
-- the place of one.
local xcore = require "xcore"
local retention = require "lib.retention"
local graph = require "luajit.graph"
local label = require "luajit.label"
local layout = require "luajit.layout"
local object = require "luajit.object"
local commands = require "luajit.commands"
local still = require "luajit.still"
local value = require "luajit.value"

local strings = {}

local SHOWN, FOUND, HOLDERS, LONGEST = 10, 20, 5, 70
local BATCH = 65536
local SLOW = 10 -- steps; a full table of good hashes needs 1.5

-- Addresses and lengths of possible strings. In a running VM, chains lead to freed and reused memory.
local function only_strings(vm, columns)
	local addresses, lengths, most, gct = columns[1], columns.len, vm.g.gc.total, columns.gct
	local wrong = 0
	for i, length in ipairs(lengths) do
		if length > most or gct[i] ~= layout.STRING then
			wrong = wrong + 1
		elseif wrong > 0 then
			addresses[i - wrong], lengths[i - wrong] = addresses[i], length
		end
	end
	for i = #lengths, #lengths - wrong + 1, -1 do addresses[i], lengths[i] = nil, nil end
	if wrong > 0 then vm:damaged(0, ("string table: %d objects in its chains are not strings"):format(wrong)) end
	return addresses, lengths
end

-- Follows the chains: fn(addresses, lengths). Returns the number of chains of each length, from 0.
local function each(vm, fn)
	still.freeze(vm)
	local anchors = object.anchors(vm)
	local exactly = { [0] = 0 }
	for from = 1, #anchors, BATCH do
		local heads = table.move(anchors, from, math.min(from + BATCH - 1, #anchors), 1, {})
		local columns, _, why, levels = xcore.chains("GCstr", heads, vm.layout.next, { "len", "gct" },
			{ mask = ~1, addresses = true, partial = true, max = object.most_strings(vm) })
		if why then vm:damaged(0, "string table: " .. why) end
		fn(only_strings(vm, columns))
		exactly[0] = exactly[0] + #heads - (levels[1] or 0)
		for n = 1, #levels do exactly[n] = (exactly[n] or 0) + levels[n] - (levels[n + 1] or 0) end
	end
	return exactly
end

local function survey(vm, limit)
	local all = { count = 0, bytes = 0, top = xcore.top(math.max(limit, 1)), sizes = xcore.histogram() }
	local of = object.sizer(vm, layout.STRING).of
	all.chains = each(vm, function(addresses, lengths)
		all.sizes:add(lengths)
		local columns, top, bytes = { len = lengths }, all.top, 0
		local least = top:least() or -1
		for i, addr in ipairs(addresses) do
			bytes = bytes + of(columns, i, addr)
			if lengths[i] > least then
				top:add(lengths[i], addr)
				least = top:least() or -1
			end
		end
		all.count, all.bytes = all.count + #addresses, all.bytes + bytes
	end)
	return all
end

local function counted(vm)
	return vm.layout.interned and vm.g.str.num or vm.g.strnum
end

-- The steps to find a string: each string costs its position in its chain.
local function mean_steps(chains, count)
	local steps = 0
	for length, number in pairs(chains) do steps = steps + number * length * (length + 1) // 2 end
	return count > 0 and steps / count or nil
end

local function add_chains(section, chains)
	local rows, longest = section:table("chains", { { "length", "integer" }, { "chains", "count" } }), 0
	for n = 0, #chains do
		if chains[n] > 0 then
			rows:row(n, chains[n])
			longest = n
		end
	end
	return longest
end

local function text_at(vm, addr, max)
	local ok, text = pcall(vm.string, vm, addr, max + 1)
	return ok and value.quote(text, max) or nil
end

local function add_biggest(vm, section, top)
	local rows = section:table(
		"biggest",
		{ { "length", "bytes" }, { "address", "address" }, { "string", "text", secret = true } }
	)
	for _, it in ipairs(top:items()) do rows:row(it.weight, it.item, text_at(vm, it.item, LONGEST)) end
end

-- ---- all ----

local function overview(vm, section, limit)
	local all, slots = survey(vm, limit), #object.anchors(vm)
	section:count("strings", all.count)
	section:bytes("size", all.bytes)
	section:count("slots", slots)
	section:number("load", all.count / slots)
	local steps = mean_steps(all.chains, all.count)
	section:number("mean_steps", steps, { label = "steps to find one" })
	if all.count ~= counted(vm) then
		section[vm.t.live and "note" or "warning"](section, ("the VM counts %d strings, its table holds %d"):format(
			counted(vm), all.count), "it was running, or a chain is damaged: luajit.check")
	end
	if limit > 0 then add_biggest(vm, section, all.top) end
	local longest = add_chains(section, all.chains)
	if steps and steps > SLOW then
		section:warning(
			("finding a string takes %.0f steps, the longest chain has %d"):format(steps, longest),
			"many strings have the same hash"
		)
	end
	section:histogram("lengths", all.sizes, { label = "lengths" })
end

-- ---- one ----

-- The addresses of strings with this text; at most one unless the table is damaged.
function strings.find(vm, text)
	local found = {}
	each(vm, function(addresses, lengths)
		for i, length in ipairs(lengths) do
			if length == #text and vm:string(addresses[i]) == text then found[#found + 1] = addresses[i] end
		end
	end)
	return found
end

-- Strings that contain it, at most `limit`, found by a search through memory.
local function containing(vm, g, text, limit)
	local found, seen = {}, {}
	for at in vm.t:find { bytes = text, writable = true } do
		local addr, _, kind = g:find(at)
		if addr and kind == "string" and not seen[addr] and at + #text <= addr + xcore.sizeof "GCstr" + vm.t:value("GCstr", addr).len then
			found[#found + 1], seen[addr] = addr, true
			if #found > limit then break end
		end
	end
	return found
end

local function add_holders(vm, g, rows, addr)
	local text = text_at(vm, addr, LONGEST)
	local holders, total, root = g:referrers(addr, HOLDERS)
	if root then rows:row(addr, text, total, root, nil) end
	if total == 0 and not root then rows:row(addr, text, 0, nil, "none: the next collection frees it") end
	for _, holder in ipairs(holders) do
		local _, _, kind = g:find(holder)
		local path = label.path(vm, g, holder)
		local by = label.of(vm, holder, addr)
		rows:row(addr, text, total, kind, retention.short(path and retention.join(path, { by }) or "garbage", LONGEST))
	end
end

local function find(vm, section, text, part, limit)
	local g = graph.of(vm)
	local found = part and containing(vm, g, text, limit) or strings.find(vm, text)
	if #found == 0 then
		error(xcore.error("usage", ("there is no string %s%s"):format(part and "with " or "", value.quote(text, 60)),
			not part and "--with finds strings that contain a text" or nil))
	end
	local rows = section:table("found", {
		{ "address", "address" }, { "string", "text", secret = true }, { "references", "count" }, { "holder", "text" }, { "path", "text", secret = true },
	})
	for i, addr in ipairs(found) do
		if i > limit then
			section:note(("only the first %d are shown"):format(limit), "--limit N shows more")
			break
		end
		add_holders(vm, g, rows, addr)
	end
end

-- luajit.strings [--find TEXT | --with TEXT] [--limit N]
function strings.run(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number", find = "text", with = "text" }, 0)
	local section = report:section("strings", "LuaJIT: strings")
	local text = parsed.find or parsed.with
	if parsed.find and parsed.with then error(xcore.error("usage", "--find and --with exclude each other")) end
	if text == "" then error(xcore.error("usage", "the text is empty")) end
	if text then
		find(vm, section, text, parsed.with ~= nil, parsed.limit or FOUND)
	else
		overview(vm, section, parsed.limit or SHOWN)
	end
	vm:tell(section)
end

return strings
