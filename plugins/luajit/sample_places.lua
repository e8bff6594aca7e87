-- sample_places: the places of samples: positions in Lua functions, and builtins. What was named once is kept for its
-- position in the bytecode; a prototype can be freed, so it is looked at again.
local xcore = require "xcore"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local proto = require "luajit.proto"

local places = {}

local RECHECK = 256 -- uses of a prototype
local TRIES = 32    -- callers of a function that give it no name

-- The prototype whose bytecode begins at `lo`: { lo, hi (exclusive), pt, used }.
function places.prototype(kept, lo)
	local found = kept.protos[lo]
	if found and found.used < RECHECK then
		found.used = found.used + 1
		return found
	end
	local vm = kept.vm
	local ok, one = pcall(function()
		local pt = vm.t:value("GCproto", lo - xcore.sizeof "GCproto")
		if pt.gct ~= layout.PROTO then return nil end
		return {
			lo = lo,
			hi = lo + pt.sizebc * 4,
			pt = pt,
			used = 0,
			source = pt.chunkname[vm.layout.ref],
			first = pt.firstline,
		}
	end)
	if not ok or not one then return nil end
	if found and found.hi == one.hi and found.source == one.source and found.first == one.first then
		found.used = 0
		return found
	end
	for pc in pairs(kept.places) do -- another one was here
		if pc >= lo and pc <= one.hi then kept.places[pc] = nil end
	end
	for pc in pairs(kept.sizes) do
		if pc >= lo and pc <= one.hi then kept.sizes[pc] = nil end
	end
	kept.protos[lo] = one
	return one
end

-- The prototype of a Lua function; nil for others, and for what is no function.
function places.of_function(self, kept, func, pc)
	local lo = kept.by_function[func]
	local one = lo and pc and places.prototype(kept, lo)
	if one and pc >= one.lo and pc <= one.hi then return one end
	local at, t = self.offsets, self.t
	if func < 4096 or t:u8(func + at.kind) ~= layout.FUNCTION or t:u8(func + at.ffid) ~= 0 then return nil end
	lo = t:u64(func + at.pc)
	one = places.prototype(kept, lo)
	kept.by_function[func] = one and lo
	return one
end

-- A function's name is what its first caller calls it. Functions of one name in one file are told apart by their lines.
-- Its places that were made before are renamed, unless they are those of another function, too.
local function title_of(self, one, what)
	if one.title then return one.title end
	local title, key = what.title, what.title .. "\n" .. (what.file or "")
	if not what.called_name and what.kind == "Lua" then return title end
	local other = self.titles[key]
	if other and other ~= one.first and what.defined then title = ("%s <%d>"):format(title, what.defined) end
	one.title = title
	self.titles[key] = other or one.first
	for number in pairs(one.nameless or {}) do
		if self.nameless[number] == one then self.told:rename(number, title) end
	end
	one.nameless = nil
	return title
end

-- A place that has no name yet.
local function remember(self, one, number)
	local other = self.nameless[number]
	self.nameless[number] = (other == nil or other == one) and one or false
	one.nameless = one.nameless or {}
	one.nameless[number] = true
end

-- A frame as frame.describe wants it.
local function as_frame(one, pc, func)
	local pos = pc and proto.position(one.pt, pc)
	return { pt = one.pt, lua = true, ffid = 0, func = func, pos = pos and (pos > 0 and pos - 1 or 0) or nil }
end

-- The place of a position in a Lua function; pc nil: unknown. Its caller, that one's position and function, where they
-- are known.
function places.at(self, kept, one, pc, caller, caller_pc, caller_func)
	local key = pc or one.lo
	local found = kept.places[key]
	if found then return found end
	local what = frame.describe(kept.vm, as_frame(one, pc), caller and as_frame(caller, caller_pc, caller_func))
	found = self.told:place {
		name = title_of(self, one, what), file = what.file, line = what.line, kind = what.kind == "builtin" and "builtin" or "function",
		language = "lua",
	}
	if not one.title then remember(self, one, found) end
	one.tries = (one.tries or 0) + (caller and 1 or 0)
	if one.title or one.tries > TRIES then kept.places[key] = found end
	return found
end

-- The place of a position by itself, if its prototype is known.
function places.at_position(self, kept, pc)
	for lo, one in pairs(kept.protos) do
		if pc > lo and pc <= one.hi then
			return places.prototype(kept, lo) == one and places.at(self, kept, one, pc) or nil
		end
	end
end

-- The place of a function that is not Lua's: by its code, as its address may be that of another one tomorrow.
function places.of_builtin(self, kept, func)
	local at, t = self.offsets, self.t
	if func < 4096 or t:u8(func + at.kind) ~= layout.FUNCTION then return nil end
	local ffid, code = t:u8(func + at.ffid), t:u64(func + at.code)
	local key = ffid > 1 and ffid or code
	local found = kept.builtins[key]
	if not found then
		local what = frame.describe(kept.vm, { lua = false, ffid = ffid, func = func })
		found = self.told:place { name = what.title, kind = what.kind, language = "lua" }
		kept.builtins[key] = found
	end
	return found
end

return places
