-- sample_places: the places of samples: positions in Lua functions, and builtins. What was named once is kept for its
-- position in the bytecode; a prototype can be freed, so it is looked at again.
local xcore = require "xcore"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local proto = require "luajit.proto"

local places = {}

local RECHECK = 256 -- uses of a prototype
local TRIES = 32    -- callers of a function that give it no name

-- What a prototype has in common with that of the same function in another VM, for a function of several lines: on one
-- line there may be others like it.
local function shape_of(pt)
	if pt.numline == 0 then return nil end
	return ("%d %d %d %d %d %d %d"):format(
		pt.firstline, pt.numline, pt.sizebc, pt.framesize, pt.numparams, pt.sizekgc, pt.sizekn)
end

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
			kept = kept,
			shape = shape_of(pt),
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

-- The same function, perhaps in another VM that has loaded the same file?
local function is_same(a, b)
	return a == b or a.kept ~= b.kept and a.shape and a.shape == b.shape and a.file == b.file
end

-- A function has a name: so have the places that were made before, unless they are those of another one, too.
local function rename(self, one, title)
	one.title = title
	for number in pairs(one.nameless or {}) do
		local owner = self.nameless[number]
		if owner and is_same(owner, one) then self.told:rename(number, title) end
	end
	one.nameless = nil
end

-- A function's name is what its first caller calls it. Functions of one name in one file are told apart by their lines.
-- In another VM it is called the same.
local function title_of(self, one, what)
	if one.title then return one.title end
	local twin_key = one.shape and one.shape .. "\n" .. (one.file or "")
	local twin = twin_key and self.twins[twin_key]
	if twin and is_same(twin, one) then
		rename(self, one, twin.title)
		return twin.title
	end
	local title, key = what.title, what.title .. "\n" .. (what.file or "")
	if not what.called_name and what.kind == "Lua" then return title end
	local other = self.titles[key]
	if other and other ~= one.first and what.defined then title = ("%s <%d>"):format(title, what.defined) end
	self.titles[key] = other or one.first
	rename(self, one, title)
	if twin_key then self.twins[twin_key] = one end
	return title
end

-- A place that has no name yet.
local function remember(self, one, number)
	local other = self.nameless[number]
	if other == nil then self.nameless[number] = one end
	if other and not is_same(other, one) then self.nameless[number] = false end
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
	one.file = what.file
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
