-- check: the consistency of the VM: lists that end, objects of a valid type, references to objects of the right type,
-- colours that the collector's phase allows, strings in the right chains, and sums that add up.
local xcore = require "xcore"
local retention = require "lib.retention"
local commands = require "luajit.commands"
local gc = require "luajit.gc"
local graph = require "luajit.graph"
local label = require "luajit.label"
local layout = require "luajit.layout"
local object = require "luajit.object"
local references = require "luajit.references"
local unowned = require "luajit.unowned"

local check = {}

local SHOWN, KEPT, LONGEST = 20, 1000, 120
local WHITES, BLACK, FIXED, SFIXED = 3, 4, 0x20, 0x40
local PAUSE, SWEEP_STRINGS, SWEEP = 0, 3, 4

local Findings = {}
Findings.__index = Findings

local function new_findings(vm, g)
	return setmetatable(
		{ vm = vm, g = g, list = {}, total = 0, objects = 0, references = 0, white = 0, grey = 0, black = 0 },
		Findings
	)
end

-- Records a problem `what` of an object; `target`: the target of its reference.
function Findings:add(holder, what, target)
	self.total = self.total + 1
	if #self.list < KEPT then self.list[#self.list + 1] = { holder = holder, what = what, target = target } end
end

-- ---- references ----

-- Describes the memory at an address that should be an object.
local function stands_at(vm, g, addr)
	local at, _, kind = g:find(addr)
	if at == addr then return "a " .. kind end
	if at then return ("within a %s at %s"):format(kind, xcore.hex(at)) end
	if vm.t:readable(addr, 8) < 8 then return vm.t:map(addr) and "not in the core" or "not mapped" end
	local map, place = vm.t:map(addr), vm.t:symbolize(addr)
	if place and place.name then return "no object: " .. place.text end
	local bytes = vm.t
		:read(addr, 16 <= vm.t:readable(addr, 16) and 16 or 8)
		:gsub(".", function(c) return ("%02x "):format(c:byte()) end)
	return ("not an object: %s%s"):format(bytes, map and map.label and map.label or "")
end

local function slot_name(slot)
	return math.type(slot) and "slot at " .. xcore.hex(slot) or slot
end

local function checker(self)
	local find, g, names, empty = self.g.find, self.g, layout.NAMES, graph.empty_string(self.vm)
	return function(holder, slot, tag, target)
		self.references = self.references + 1
		if tag == nil then return self:add(holder, slot_name(slot) .. " is wrong", target) end
		if target == empty then return end
		local at, _, kind = find(g, target)
		if at ~= target then
			return self:add(
				holder,
				slot_name(slot) .. " should lead to " .. (tag and "a " .. names[tag] or "an object"),
				target
			)
		end
		if tag and kind ~= names[tag] then
			self:add(holder, ("%s should lead to a %s"):format(slot_name(slot), names[tag]), target)
		end
	end
end

-- ---- colours ----

-- Only one white is in use at a time, and no black object is white; between cycles everything is white except objects
-- that are never freed.
local function check_colours(self, addresses, marked)
	local state = self.vm.g.gc.state
	for i, bits in ipairs(marked) do
		local white = bits & WHITES
		if white == WHITES or white ~= 0 and bits & BLACK ~= 0 then
			self:add(addresses[i], ("its colour is impossible (marked 0x%x)"):format(bits))
		elseif state == PAUSE and white == 0 and bits & (FIXED | SFIXED) == 0 then
			self:add(addresses[i], ("it is marked (0x%x) although no collection runs"):format(bits))
		end
		if white ~= 0 then
			self.white = self.white + 1
		elseif bits & BLACK ~= 0 then
			self.black = self.black + 1
		else
			self.grey = self.grey + 1
		end
	end
end

-- ---- strings ----

-- Strings by chain: xcore.chains returns them level by level, each level in the order of the one above it.
local function check_strings(self, addresses, columns, levels, heads, mask)
	local vm, next, hash = self.vm, columns["nextgc." .. self.vm.layout.ref], columns.hash
	local index, at = {}, 0
	for i, head in ipairs(heads) do
		if head & ~1 ~= 0 then index[#index + 1] = i - 1 end
	end
	for level = 1, levels and #levels or 0 do
		local below = {}
		for i = 1, levels[level] do
			local row = at + i
			if not index[i] or not hash[row] then return end -- a damaged chain was already reported
			if hash[row] & mask ~= index[i] then
				self:add(addresses[row], ("a string of chain %d is in chain %d"):format(hash[row] & mask, index[i]))
			end
			if next[row] and next[row] & ~1 ~= 0 then below[#below + 1] = index[i] end
		end
		at, index = at + levels[level], below
	end
	local header = xcore.sizeof "GCstr"
	for i, addr in ipairs(addresses) do
		local ok, last = pcall(vm.t.u8, vm.t, addr + header + columns.len[i])
		if not ok or last ~= 0 then
			self:add(addr, ("a string of %s bytes without an end"):format(xcore.u64(columns.len[i])))
		end
	end
end

-- Heads of the chains in a batch of object.each.
local function chain_heads(vm)
	local anchors, mask = object.anchors(vm)
	local from = 1
	return function()
		local to = math.min(from + 65535, #anchors)
		local heads = table.move(anchors, from, to, 1, {})
		local first = from - 1
		from = to + 1
		return heads, first, mask
	end
end

-- ---- all objects ----

-- Rows of the objects not yet condemned during a sweep; nil: all.
local function living_rows(vm, marked)
	local state = vm.g.gc.state
	if state ~= SWEEP and state ~= SWEEP_STRINGS then return nil end
	local dead, rows = vm.g.gc.currentwhite & WHITES ~ WHITES, {}
	for i, bits in ipairs(marked) do
		if bits & dead == 0 or bits & (FIXED | SFIXED) ~= 0 then rows[#rows + 1] = i end
	end
	return rows
end

local function check_objects(self)
	local vm, heads, test = self.vm, chain_heads(self.vm), checker(self)
	local function failed(holder, why) self:add(holder, "it cannot be read: " .. why) end
	object.each(vm, references.fields(vm), function(gct, addresses, columns, levels)
		self.objects = self.objects + #addresses
		check_colours(self, addresses, columns.marked)
		if gct == layout.STRING then
			local list, first, mask = heads()
			local shifted = {}
			for i = 1, #columns.hash do shifted[i] = columns.hash[i] and (columns.hash[i] & mask) - first end
			self.strings = (self.strings or 0) + #addresses
			return check_strings(
				self,
				addresses,
				setmetatable({ hash = shifted }, { __index = columns }),
				levels,
				list,
				-1
			)
		end
		columns[1] = addresses
		columns = graph.pick(columns, living_rows(vm, columns.marked))
		references.each(vm, gct, columns[1], columns, test, failed)
	end)
end

-- ---- the rest ----

local function check_ring(self)
	local vm, ref = self.vm, self.vm.layout.ref
	local head = xcore.addr(vm.g.uvhead)
	local at, steps = head, 0
	repeat
		local upvalue = vm.t:value("GCupval", at)
		local next = upvalue.next[ref]
		if next == 0 then break end
		if vm.t:value("GCupval", next).prev[ref] ~= at then
			self:add(at, "the ring of open upvalues: the next one does not lead back", next)
			break
		end
		at, steps = next, steps + 1
	until at == head or steps > 1 << 24
	self.open = steps > 0 and steps - 1 or 0
end

local function add_findings(vm, section, self, limit)
	if self.total == 0 then return end
	local rows = section:table("findings", {
		{ "holder", "address", label = "OBJECT" }, { "what", "text", label = "WHAT IS WRONG" }, { "target", "address", label = "LEADS TO" },
		{ "stands", "text", label = "CONTENTS" }, { "path", "text", secret = true, label = "WHO HOLDS THE OBJECT" },
	})
	for i, it in ipairs(self.list) do
		if i > limit then break end
		local ok, text = pcall(label.path, vm, self.g, it.holder)
		local described, stands = pcall(stands_at, vm, self.g, it.target or 0)
		rows:row(
			it.holder,
			it.what,
			it.target,
			it.target and described and stands or nil,
			ok and text and retention.short(text, LONGEST) or "no root"
		)
	end
	section:problem(("%d findings"):format(self.total),
		"the first is often the cause of the others; luajit.path ADDR describes an object")
	if self.total > limit then
		section:note(("the first %d of %d are shown"):format(limit, self.total), "--limit N shows more")
	end
end

-- The bytes by which the collector's total exceeds objects and buffers.
local function difference_of(vm)
	local list, owned = gc.statistics(vm)
	local sum = owned
	for _, one in ipairs(list) do sum = sum + one.sum end
	for _, buffer in ipairs(gc.buffers(vm)) do sum = sum + buffer.bytes end
	return vm.g.gc.total - sum
end

-- The cause of the difference, as far as it can be known: blocks, and a description if the VM was working on it.
local function explain(vm, difference)
	if difference == 0 or vm.t.live then return nil end
	local told = vm.damages and table.move(vm.damages, 1, #vm.damages, 1, {}) -- all objects are walked again
	local ok, list, what = pcall(unowned.explain, vm, difference)
	vm.damages = told
	if ok then return list, what end
end

local function add_blocks(section, list)
	local rows = section:table(
		"unowned",
		{ { "block", "address" }, { "size", "bytes", label = "ROOM" }, { "known", "text", label = "KNOWN TO" } }
	)
	for _, block in ipairs(list) do rows:row(block.lo, block.hi - block.lo + 1, block.known) end
end

local function tell_difference(vm, section, difference, list, what)
	if difference == 0 then return end
	if list then add_blocks(section, list) end
	local text = ("g.gc.total has %d bytes %s than all objects and buffers"):format(
		math.abs(difference),
		difference > 0 and "more" or "less"
	)
	if what then return section:note(("%s: %s when it was stopped"):format(text, what)) end
	if vm.t.live then return section:note(text .. ": the VM was running", "another run of luajit.gc may show more") end
	if list then
		return section:warning(("%s: %d blocks in use belong to no object and are unknown to the running C code"):format(
			text, #list),
			"objects that were lost or were being created: luajit.alloc shows the allocator")
	end
	section:warning(text, difference > 0
		and "an object was lost or overwritten, or was being allocated, moved or freed when the VM stopped"
		or "an object was overwritten, or was being freed as the VM was stopped")
end

-- If only the sum is wrong and the cause is unknown, neither yes nor no would be right.
local function add_verdict(vm, section, self, difference, what)
	local options = { label = "in good order" }
	if self.total > 0 or vm.damages then
		section:bool("good", false, options)
	elseif difference == 0 or what then
		section:bool("good", true, options)
	else
		section:unknown("good", "all that was found is, but sums differ", options)
	end
end

local function add_string_count(vm, section, self, what)
	local counted = vm.layout.interned and vm.g.str.num or vm.g.strnum
	section:count("strings", self.strings or 0)
	if counted == self.strings then return end
	local text = ("the string table counts %d strings, but %d were found"):format(counted, self.strings or 0)
	if what or vm.t.live then return section:note(text .. ": it was being changed") end
	section:warning(text)
end

-- luajit.check [--limit N]
function check.run(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" })
	local section = report:section("check", "Is the LuaJIT VM in good order")
	local self = new_findings(vm, (graph.of(vm)))
	vm.damages = nil -- found again below
	check_objects(self)
	local ok, err = pcall(check_ring, self)
	if not ok then vm:damaged(xcore.addr(vm.g.uvhead), "ring of open upvalues: " .. tostring(err.message or err)) end
	local difference = difference_of(vm)
	local list, what = explain(vm, difference)
	add_verdict(vm, section, self, difference, what)
	section:text("phase", gc.STATES and gc.STATES[vm.g.gc.state] or tostring(vm.g.gc.state))
	section:count("objects", self.objects)
	section:count("references", self.references)
	section:count("white", self.white)
	section:count("grey", self.grey)
	section:count("black", self.black)
	section:count("open_upvalues", self.open or 0, { label = "open upvalues" })
	add_string_count(vm, section, self, what)
	section:integer("difference", difference, { label = "unaccounted bytes of total" })
	tell_difference(vm, section, difference, list, what)
	add_findings(vm, section, self, options.limit or SHOWN)
	vm:tell(section)
end

return check
