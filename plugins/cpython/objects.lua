-- objects: every object that can be found: those that the collector lists (its generations of all interpreters), and what they and the
-- interpreters refer to: strings, numbers, code, tuples that are no longer tracked.
--
-- Sizes are those of sys.getsizeof: with the collector's head, and with the arrays of lists, dictionaries, sets and deques. What else lies
-- elsewhere, or behind an instance (the values of its attributes), is not counted, nor what a __sizeof__ of C extensions adds.
local xcore = require "xcore"
local references = require "cpython.references"
local runtime = require "cpython.runtime"
local types = require "cpython.types"

local objects = {}

local MOST = 200000000
local LARGEST = 1 << 40 -- bytes of an object
local IMMORTAL = 1 << 33 -- no reference count is larger
local FLAGS = require("cpython.layout").FLAGS
local LEAVES = { str = true, int = true, float = true, bool = true, bytes = true, bytearray = true, complex = true }

-- ---- what the collector lists ----

local function generations(py, interpreter, most, fn)
	local gc, names = interpreter.gc, {}
	if xcore.has(gc, "generations") then
		for i = 0, 2 do names[#names + 1] = { "generation " .. i, gc.generations[i].head } end
	end
	for _, name in ipairs { "young", "old", "permanent_generation" } do
		if xcore.has(gc, name) then
			local member = gc[name]
			for i = 0, name == "old" and 1 or 0 do
				local one = name == "old" and member[i] or member
				names[#names + 1] = { name:gsub("_", " "), one.head }
			end
		end
	end
	for _, one in ipairs(names) do
		local c, count, why = xcore.follow(one[2], "_gc_next", {}, { addresses = true, partial = true, max = most })
		-- A ring that ends at NULL is none.
		local ends = c[1][count] and py.t:ptr(c[1][count])
		local cut = count == most
		if not why and ends ~= xcore.addr(one[2]) then why = "its last object leads to " .. (ends and xcore.hex(ends) or "nothing") end
		if cut then why = nil end
		if why then
			py.broken = true
			py:damaged(xcore.addr(one[2]), one[1] .. " of the collector ends early: " .. why)
		end
		fn(one[1], c[1], count, cut)
	end
end

-- Addresses of all objects of the collector by generation's name, names in order, and whether there are more than `most` of one.
function objects.tracked(py, most)
	local list, order, more = {}, {}, false
	for _, interpreter in ipairs(py.interpreters) do
		generations(py, interpreter, most or MOST, function(name, heads, count, cut)
			more = more or cut
			if not list[name] then
				list[name] = {}
				order[#order + 1] = name
			end
			local into, head = list[name], py.layout.gc_head
			for i = 2, count do into[#into + 1] = heads[i] + head end
		end)
	end
	return list, order, more
end

-- ---- groups by type ----

local function group(py, groups, addresses)
	local column = references.gather("PyObject", addresses, { "ob_type" }).ob_type
	local fresh, known = {}, py.types
	for i, addr in ipairs(addresses) do
		local at = column[i]
		local type = at and (known[at] or types.at(py, at))
		if type then
			local mine = fresh[type]
			if not mine then
				mine = {}
				fresh[type] = mine
			end
			mine[#mine + 1] = addr
		else
			py:damaged(addr, "an object of the collector without a type")
		end
	end
	for type, list in pairs(fresh) do
		local all = groups[type] or {}
		groups[type] = table.move(list, 1, #list, #all + 1, all)
	end
	return fresh
end

-- Where a type's instances vary in size, what is there must be as large as they say.
local function fits(py, addr, type)
	if type.item == 0 or type.kind == "generator" or type.kind == "int" or type.kind == "bool" then return true end
	local size = math.abs(py.t:i64(addr + py.layout.ob_size))
	return size < 64 or size < MOST and py.t:readable(addr, type.basic + size * type.item) == type.basic + size * type.item
end

-- What the collector could list and does not is untracked: its head is empty. Freed memory is not. Types that are no heap types have
-- no head.
local function untracked(py, addr, type)
	if not type.gc or py.broken then return true end -- behind where a list is broken all have a head that is in use
	if type.kind == "type" and py.t:value("PyTypeObject", addr).tp_flags & FLAGS.HEAP == 0 then return true end
	return py.t:ptr(addr - py.layout.gc_head) == 0
end

-- Strings and numbers need no further proof.
local function simple_type(type)
	if type.simple == nil then type.simple = not type.gc and (type.item == 0 or type.kind == "int" or type.kind == "bool") end
	return type.simple
end

local function further(py, addr, type)
	return untracked(py, addr, type) and fits(py, addr, type)
end

local declared

-- Columns `references` (counts) and `type` (addresses) of what may be objects. From 3.12 on the count is a union without a name, which
-- layouts that come with the plugin do not have.
function objects.heads(addresses)
	declared = declared or xcore.cdef "struct cpython_object { long references; unsigned long type; };" or true
	return references.gather("struct cpython_object", addresses, { "references", "type" })
end

-- Words that are addresses of objects: those among `words` whose type is one, and that have references.
local function proven(py, words)
	local c = objects.heads(words)
	local good, n, known, counts, kinds = {}, 0, py.types, c.references, c.type
	for i, addr in ipairs(words) do
		local count, at = counts[i], kinds[i]
		local type = count and count > 0 and count < IMMORTAL and at ~= 0 and (known[at] or types.at(py, at))
		if type and (simple_type(type) or runtime.try(further, py, addr, type)) then
			n = n + 1
			good[n] = addr
		end
	end
	return good
end

local function sorted_types(fresh)
	local list = {}
	for type in pairs(fresh) do list[#list + 1] = type end
	table.sort(list, function(a, b) return a.addr < b.addr end)
	return list
end

-- What objects of these groups refer to and is not yet known.
local function look_on(py, known, fresh, extra)
	local words = {}
	local function note(word)
		if word & 7 == 0 and word ~= 0 and not known[word] then
			known[word] = true
			words[#words + 1] = word
		end
	end
	for _, word in ipairs(extra) do note(word) end
	for _, type in ipairs(sorted_types(fresh)) do
		note(type.addr)
		if not LEAVES[type.kind] then
			for _, span in ipairs(references.spans(py, type, fresh[type])) do py.missing = py.missing + references.read(py, span, note) end
		end
	end
	return proven(py, words)
end

-- Words of the interpreters and of all frames.
local function of_interpreters(py)
	local words, frame = {}, require "cpython.frame"
	for _, interpreter in ipairs(py.interpreters) do
		for at = xcore.addr(interpreter), xcore.addr(interpreter) + xcore.sizeof(xcore.deref(interpreter)) - 8, 8 do
			local word = py.t:readable(at, 8) == 8 and py.t:ptr(at) or 0
			if word ~= 0 and word & 7 == 0 then words[#words + 1] = word end
		end
	end
	for _, thread in ipairs(runtime.threads(py)) do
		for _, one in ipairs(frame.list(py, thread)) do
			for _, v in ipairs(frame.slots(py, one)) do words[#words + 1] = v end
		end
	end
	return words
end

-- All objects by type: { [type] = addresses }, and how many the collector lists.
function objects.all(py)
	if py.objects then return py.objects, py.tracked end
	local list, order = objects.tracked(py)
	local groups, known, fresh, tracked = {}, {}, {}, 0
	py.missing = 0
	for _, name in ipairs(order) do
		tracked = tracked + #list[name]
		for _, addr in ipairs(list[name]) do known[addr] = true end
		for type, some in pairs(group(py, groups, list[name])) do
			local mine = fresh[type] or {}
			fresh[type] = mine
			table.move(some, 1, #some, #mine + 1, mine)
		end
	end
	local extra = of_interpreters(py)
	repeat
		local found = look_on(py, known, fresh, extra)
		fresh, extra = group(py, groups, found), {}
	until next(fresh) == nil
	py.objects, py.tracked = groups, tracked
	return groups, tracked
end

-- ---- sizes ----

local SIZE = {}

local function var_sizes(addresses, basic, item)
	local sizes, column = {}, references.gather("PyVarObject", addresses, { "ob_size" }).ob_size
	for i = 1, #addresses do sizes[i] = basic + math.abs(column[i] or 0) * item end
	return sizes
end

local function each(addresses, fn)
	local sizes = {}
	for i, addr in ipairs(addresses) do
		local ok, size = pcall(fn, addr)
		if not ok and type(size) == "table" and size.kind == "limit" then error(size, 0) end
		sizes[i] = ok and size or 0
	end
	return sizes
end

function SIZE.list(py, type, addresses)
	local sizes, column = {}, references.gather("PyListObject", addresses, { "allocated" }).allocated
	for i = 1, #addresses do sizes[i] = type.basic + math.max(column[i] or 0, 0) * py.layout.word end
	return sizes
end

function SIZE.set(_, type, addresses)
	local c, sizes = references.gather("PySetObject", addresses, { "table", "mask" }), {}
	local small = xcore.offsetof("PySetObject", "smalltable")
	for i, addr in ipairs(addresses) do
		local elsewhere = c.table[i] and c.table[i] ~= addr + small
		sizes[i] = type.basic + (elsewhere and (c.mask[i] + 1) * xcore.sizeof "setentry" or 0)
	end
	return sizes
end

function SIZE.dict(py, type, addresses)
	local c, sizes = references.gather("PyDictObject", addresses, { "ma_keys", "ma_values" }), {}
	for i in ipairs(addresses) do
		local keys = c.ma_keys[i] and c.ma_keys[i] ~= 0 and references.keys_at(py, c.ma_keys[i])
		local size = type.basic
		if keys and c.ma_values[i] ~= 0 then size = size + keys.room * py.layout.word end
		if keys and keys.references == 1 then size = size + keys.bytes end
		sizes[i] = size
	end
	return sizes
end

function SIZE.str(py, _, addresses)
	local t, ascii, compact = py.t, xcore.sizeof "PyASCIIObject", xcore.sizeof "PyCompactUnicodeObject"
	local c, sizes = references.gather("PyASCIIObject", addresses, { "length", "state.kind", "state.compact", "state.ascii" }), {}
	for i, addr in ipairs(addresses) do
		local bytes = ((c.length[i] or 0) + 1) * (c["state.kind"][i] or 1)
		if c["state.compact"][i] == 0 then
			sizes[i] = xcore.sizeof "PyUnicodeObject" + bytes
		elseif c["state.ascii"][i] ~= 0 then
			sizes[i] = ascii + bytes
		else
			sizes[i] = compact + bytes
			local at = addr + xcore.offsetof("PyCompactUnicodeObject", "utf8")
			if t:ptr(at) ~= 0 and t:ptr(at) ~= addr + compact then
				sizes[i] = sizes[i] + t:i64(addr + xcore.offsetof("PyCompactUnicodeObject", "utf8_length")) + 1
			end
		end
	end
	return sizes
end

function SIZE.int(py, type, addresses)
	if not py.layout.tagged_int then
		local column, sizes = references.gather("PyVarObject", addresses, { "ob_size" }).ob_size, {}
		local basic = xcore.offsetof("PyLongObject", "ob_digit")
		local least = py.layout.interpreter_frames and 1 or 0 -- from 3.11 on zero has a digit, too
		for i = 1, #addresses do sizes[i] = basic + math.max(math.abs(column[i] or 0), least) * type.item end
		return sizes
	end
	local at, sizes = xcore.offsetof("PyLongObject", "long_value.ob_digit"), {}
	local column = references.gather("PyLongObject", addresses, { "long_value.lv_tag" })["long_value.lv_tag"]
	for i = 1, #addresses do sizes[i] = at + math.max((column[i] or 0) >> 3, 1) * xcore.sizeof "digit" end
	return sizes
end
SIZE.bool = SIZE.int

function SIZE.type(py, _, addresses)
	return each(addresses, function(addr)
		local type = types.at(py, addr)
		if not type then return 0 end
		if not type.heap then return xcore.sizeof "PyTypeObject" - py.layout.gc_head end -- static: it has no head
		local cached = py.t:value("PyHeapTypeObject", addr).ht_cached_keys
		local keys = cached and references.keys_at(py, xcore.addr(cached))
		return xcore.sizeof "PyHeapTypeObject" + (keys and keys.bytes or 0)
	end)
end

-- Blocks of 64 items of a deque (Modules/_collectionsmodule.c).
local function deque_sizes(py, type, addresses)
	local ITEMS, BLOCK = 64, 66 * py.layout.word
	local c, sizes = references.gather("dequeobject", addresses, { "leftindex", "ob_base.ob_size" }), {}
	for i = 1, #addresses do
		sizes[i] = type.basic + ((c.leftindex[i] or 0) + (c["ob_base.ob_size"][i] or 0) + ITEMS - 1) // ITEMS * BLOCK
	end
	return sizes
end

local function slots_of(v, L)
	return L.locals_plus and v.co_nlocalsplus + v.co_stacksize or v.co_nlocals + v.co_stacksize
end

function SIZE.generator(py, type, addresses)
	if not py.layout.interpreter_frames then return var_sizes(addresses, type.basic, 0) end
	local at = xcore.offsetof("PyGenObject", "gi_iframe")
	return each(addresses, function(addr)
		local v = py.t:value("_PyInterpreterFrame", addr + at)[py.layout.code_of_frame]
		local code = py.t:value("PyCodeObject", xcore.addr(v))
		return at + xcore.offsetof("_PyInterpreterFrame", "localsplus") + slots_of(code, py.layout) * py.layout.word
	end)
end

function SIZE.frame(py, type, addresses)
	return each(addresses, function(addr)
		local L, v, count = py.layout, py.t:value("PyFrameObject", addr), nil
		if not L.interpreter_frames then
			local cells = require("cpython.code").at(py, xcore.addr(v.f_code))
			return type.basic + (cells.value.co_stacksize + #cells.names - 1) * L.word
		end
		count = slots_of(py.t:value("PyCodeObject", xcore.addr(v.f_frame[L.code_of_frame])), L)
		return xcore.offsetof("PyFrameObject", "_f_frame_data") + xcore.offsetof("_PyInterpreterFrame", "localsplus") + count * L.word
	end)
end

-- Bytes in front of objects of a type: the collector's head, and two words for a dictionary or weak references that the interpreter
-- manages.
local function before(py, type)
	local bytes, flags = type.gc and py.layout.gc_head or 0, FLAGS.MANAGED_DICT | FLAGS.MANAGED_WEAKREF
	if py.layout.interpreter_frames and type.flags & flags ~= 0 then bytes = bytes + 2 * py.layout.word end
	return bytes
end

-- Sizes of objects that are all of a type, in their order.
function objects.sizes(py, type, addresses)
	local own = type.name == "collections.deque" and py.t:has_type "dequeobject" and deque_sizes or SIZE[type.kind]
	local sizes = own and own(py, type, addresses) or var_sizes(addresses, type.basic, type.item)
	local more = before(py, type)
	for i, size in ipairs(sizes) do
		if size < 0 or size > LARGEST then
			py:damaged(addresses[i], "an object of an impossible size")
			size = type.basic
		end
		sizes[i] = size + more
	end
	return sizes
end

-- fn(type, addresses, sizes) for all types, by address of the type.
function objects.each(py, fn)
	local groups = objects.all(py)
	for _, type in ipairs(sorted_types(groups)) do fn(type, groups[type], objects.sizes(py, type, groups[type])) end
end

return objects
