-- objects: every object that can be found: those in the collector's lists (the generations of all interpreters), and
-- objects that they and the interpreters refer to: strings, numbers, code, untracked tuples.
--
-- Programs have millions of objects, so they are processed in batches, with one bit of memory for each known object.
--
--	collector's lists --batch--> by type --> told
--	                                |  references
--	                                v
--	                  words, not yet known --> proven --> leaves (str, int, …) told
--	                                               others --> queue, handled like a batch
local xcore = require "xcore"
local collector = require "cpython.collector"
local references = require "cpython.references"
local runtime = require "cpython.runtime"
local sizes = require "cpython.sizes"
local types = require "cpython.types"

local objects = {}

local BATCH = collector.BATCH
local MOST = 200000000
local IMMORTAL = 1 << 33 -- no reference count is larger
local FLAGS = require("cpython.layout").FLAGS
local LEAVES = { str = true, int = true, float = true, bool = true, bytes = true, bytearray = true, complex = true }

-- ---- recognition of objects ----

-- If a type's instances vary in size, the existing data must have the stated size.
local function fits(py, addr, type)
	if type.item == 0 or type.kind == "generator" or type.kind == "int" or type.kind == "bool" then return true end
	local size = math.abs(py.t:i64(addr + py.layout.ob_size))
	return size < 64
		or size < MOST and py.t:readable(addr, type.basic + size * type.item) == type.basic + size * type.item
end

-- An object that the collector could list but does not is untracked: its head is empty. Freed memory does not have an
-- empty head. Instances of types other than heap types have no head.
local function untracked(py, addr, type)
	if not type.gc or py.broken then return true end -- after a break in a list, all objects have a head in use
	if type.kind == "type" and py.t:value("PyTypeObject", addr).tp_flags & FLAGS.HEAP == 0 then return true end
	return py.t:ptr(addr - py.layout.gc_head) == 0
end

-- Strings and numbers need no further proof.
local function simple_type(type)
	if type.simple == nil then
		type.simple = not type.gc and (type.item == 0 or type.kind == "int" or type.kind == "bool")
	end
	return type.simple
end

local function further(py, addr, type)
	return untracked(py, addr, type) and fits(py, addr, type)
end

local declared

-- Columns `references` (counts) and `type` (addresses) of possible objects. Since 3.12 the count is an anonymous
-- union, which the plugin's own layouts lack.
function objects.heads(addresses)
	declared = declared or xcore.cdef "struct cpython_object { long references; unsigned long type; };" or true
	return references.gather("struct cpython_object", addresses, { "references", "type" })
end

local function add(groups, type, addr)
	local list = groups[type]
	if not list then
		list = {}
		groups[type] = list
	end
	list[#list + 1] = addr
end

-- The words that are addresses of objects, by type: their type is a type, and they have references.
local function proven(py, words)
	local c = objects.heads(words)
	local groups, known, counts, kinds = {}, py.types, c.references, c.type
	for i, addr in ipairs(words) do
		local count, at = counts[i], kinds[i]
		local type = count and count > 0 and count < IMMORTAL and at ~= 0 and (known[at] or types.at(py, at))
		if type and (simple_type(type) or runtime.try(further, py, addr, type)) then
			add(groups, type, addr)
		end
	end
	return groups
end

-- Objects by type.
local function grouped(py, addresses)
	local column = references.gather("PyObject", addresses, { "ob_type" }).ob_type
	local groups, known = {}, py.types
	for i, addr in ipairs(addresses) do
		local at = column[i]
		local type = at and (known[at] or types.at(py, at))
		if type then
			add(groups, type, addr)
		else
			py:damaged(addr, "an object of the collector without a type")
		end
	end
	return groups
end

local function sorted_types(groups)
	local list = {}
	for type in pairs(groups) do list[#list + 1] = type end
	table.sort(list, function(a, b) return a.addr < b.addr end)
	return list
end

-- ---- the search ----

-- The known addresses: a bit for each 8 bytes, 64 of them per number. Is this one new?
local function enter(known, addr)
	local key, bit = addr >> 9, 1 << (addr >> 3 & 63)
	local bits = known[key]
	if not bits then
		known[key] = bit
		return true
	end
	if bits & bit ~= 0 then return false end
	known[key] = bits | bit
	return true
end

local Search = {}
Search.__index = Search

-- Pending words: leaves among them are passed on, all others are queued.
function Search:flush()
	while #self.words > 0 do
		local words = self.words
		self.words = {}
		local groups = proven(self.py, words)
		for _, type in ipairs(sorted_types(groups)) do
			local list = groups[type]
			if LEAVES[type.kind] then
				self.fn(type, list, sizes.of(self.py, type, list))
				self.note(type.addr)
			else
				table.move(list, 1, #list, #self.queue + 1, self.queue)
			end
		end
	end
end

-- Passes on objects; their references become pending.
function Search:hand(addresses)
	local py, groups = self.py, grouped(self.py, addresses)
	for _, type in ipairs(sorted_types(groups)) do
		local list = groups[type]
		self.fn(type, list, sizes.of(py, type, list))
		self.note(type.addr)
		if not LEAVES[type.kind] then
			for _, span in ipairs(references.spans(py, type, list)) do
				py.missing = py.missing + references.read(py, span, self.note)
			end
		end
	end
	self:flush()
end

-- Processes the queue, and everything it leads to.
function Search:drain()
	while #self.queue > 0 do
		local queue = self.queue
		self.queue = {}
		for i = 1, #queue, BATCH do self:hand(table.move(queue, i, math.min(i + BATCH - 1, #queue), 1, {})) end
	end
end

-- Words of the interpreters and of all frames.
local function of_interpreters(py, note)
	local frame = require "cpython.frame"
	for _, interpreter in ipairs(py.interpreters) do
		for at = xcore.addr(interpreter), xcore.addr(interpreter) + xcore.sizeof(xcore.deref(interpreter)) - 8, 8 do
			note(py.t:readable(at, 8) == 8 and py.t:ptr(at) or 0)
		end
	end
	for _, thread in ipairs(runtime.threads(py)) do
		for _, one in ipairs(frame.list(py, thread)) do
			for _, v in ipairs(frame.slots(py, one)) do note(v) end
		end
	end
end

-- Marks all objects of the collector's lists as known and counts them by list. A list that leads back to a known
-- object is damaged.
local function mark(py, known)
	local counts, order = {}, collector.names(py)
	for _, name in ipairs(order) do counts[name] = 0 end
	collector.each(py, function(name, addresses)
		if not enter(known, addresses[1]) then
			collector.broken(py, name, addresses[1], "it leads back to this object")
			return true
		end
		for i = 2, #addresses do enter(known, addresses[i]) end
		counts[name] = counts[name] + #addresses
	end, function(...) collector.broken(py, ...) end)
	return counts, order
end

-- fn(type, addresses, sizes) for objects of one type at a time, until all were passed on; a type occurs more than
-- once. Returns the number of objects in the collector's lists, by list name, and these names in order.
function objects.each(py, fn)
	local known = {}
	local counts, order = mark(py, known)
	local search = setmetatable({ py = py, fn = fn, words = {}, queue = {} }, Search)
	function search.note(word)
		if word & 7 ~= 0 or word == 0 then return end
		local key, bit = word >> 9, 1 << (word >> 3 & 63) -- `enter` inlined, to avoid a call for each word
		local bits = known[key]
		if bits and bits & bit ~= 0 then return end
		known[key] = bits and bits | bit or bit
		local words = search.words
		words[#words + 1] = word
		if #words >= BATCH then search:flush() end
	end
	py.missing = 0
	of_interpreters(py, search.note)
	search:flush()
	search:drain()
	local left = {}
	for name, count in pairs(counts) do left[name] = count end
	collector.each(py, function(name, addresses)
		left[name] = (left[name] or 0) - #addresses
		search:hand(addresses)
		search:drain()
		return left[name] <= 0
	end)
	return counts, order
end

return objects
