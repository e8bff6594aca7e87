-- references: the places of references in objects of a type, as spans: rows of words for the scan of xcore.graph,
-- which also lead to objects outside the collector's lists (strings, numbers, tuples of such).
--
--	a span: { from = column of objects, start = column, offset, count = column or number, stride, at = offsets of words in an element }
--
-- Containers are known by layout, and CPython's own structs by their members (owned.lua). In all other objects,
-- including those of C extensions, each word is examined, and counts as a reference if it is the address of an
-- object. This is a guess (label.lua says so), because padding and numbers may match by chance. Non-owning references
-- (weak references) are left out if they are known.
local xcore = require "xcore"
local dict = require "cpython.dict"
local owned = require "cpython.owned"

local references = {}

local MOST = 1 << 28
local AT_ONCE = 64 -- offsets of a span
local OF = {}

local gather, add_row = owned.gather, owned.add_row
references.gather = gather

-- A column without unreadable rows: false becomes 0.
local function clean(column)
	for i = 1, #column do
		local n = column[i]
		if not n or n < 0 then column[i] = 0 end
	end
	return column
end

function OF.list(_, _, addresses)
	local c = gather("PyListObject", addresses, { "ob_item", "ob_base.ob_size" })
	return { { from = addresses, start = clean(c.ob_item), count = clean(c["ob_base.ob_size"]) } }
end

function OF.tuple(py, _, addresses)
	local c = gather("PyVarObject", addresses, { "ob_size" })
	return { { from = addresses, start = addresses, offset = py.layout.items.tuple, count = clean(c.ob_size) } }
end

function OF.set(_, _, addresses)
	local c = gather("PySetObject", addresses, { "table", "mask" })
	local count = {}
	for i, mask in ipairs(c.mask) do count[i] = mask and mask >= 0 and mask + 1 or 0 end
	return { { from = addresses, start = clean(c.table), count = count, stride = xcore.sizeof "setentry" } }
end

-- Tables of keys by their address; shared tables are examined once.
local function keys_at(py, addr)
	py.keys = py.keys or {}
	local keys = py.keys[addr]
	if keys == nil then
		local ok, found = pcall(dict.keys, py, addr)
		if not ok then
			py:damaged(addr, "keys of a dictionary: " .. tostring(found.message or found))
		end
		keys = ok and found or false
		if not keys or keys.references ~= 1 then py.keys[addr] = keys end
	end
	return keys or nil
end
references.keys_at = keys_at

-- Entries with one stride together: { from, start, count }.
local function rows_of(list, key)
	local rows = list[key]
	if not rows then
		rows = { from = {}, start = {}, count = {} }
		list[key] = rows
	end
	return rows
end

function OF.dict(py, _, addresses)
	local c = gather("PyDictObject", addresses, { "ma_keys", "ma_values" })
	local lists, spans = {}, {}
	for i, addr in ipairs(addresses) do
		local keys = c.ma_keys[i] and c.ma_keys[i] ~= 0 and keys_at(py, c.ma_keys[i])
		if keys then
			local values = dict.values_at(py, c.ma_values[i])
			add_row(
				rows_of(lists, values and "keys" .. keys.stride or "both" .. keys.stride),
				addr,
				keys.at,
				keys.count
			)
			if values then add_row(rows_of(lists, "values"), addr, values, keys.count) end
		end
	end
	for key, rows in pairs(lists) do
		local stride = math.tointeger(tonumber(key:match "%d+$"))
		local word = py.layout.word
		local first = stride == 3 * word and word or 0
		rows.stride = stride or word
		rows.at = key:find "^both" and { first, first + word } or key:find "^keys" and { first } or nil
		spans[#spans + 1] = rows
	end
	return spans
end

-- Items from `left`, in blocks of 64 that are linked: link, items, link.
local function add_blocks(py, rows, addr, block, left, count)
	local ITEMS, word = 64, py.layout.word
	while count > 0 and block ~= 0 and left >= 0 and left < ITEMS do
		local here = math.min(count, ITEMS - left)
		add_row(rows, addr, block + (1 + left) * word, here)
		count, left = count - here, 0
		if count > 0 then block = py.t:ptr(block + (1 + ITEMS) * word) end
	end
	if count > 0 then py:damaged(addr, "a deque whose blocks end early") end
end

function OF.deque(py, _, addresses)
	local c, rows =
		gather("dequeobject", addresses, { "leftblock", "leftindex", "ob_base.ob_size" }),
		{ from = {}, start = {}, count = {} }
	for i, addr in ipairs(addresses) do
		local count = c["ob_base.ob_size"][i]
		local ok = count
			and count >= 0
			and count < MOST
			and pcall(add_blocks, py, rows, addr, c.leftblock[i], c.leftindex[i], count)
		if not ok then py:damaged(addr, "a deque with a block that cannot be read, or too many items") end
	end
	return { rows }
end

function OF.weakref(_, _, addresses)
	return {
		{ from = addresses, start = addresses, offset = xcore.offsetof("PyWeakReference", "wr_callback"), count = 1 },
	}
end

for _, kind in ipairs { "str", "int", "float", "bool", "bytes", "bytearray", "complex" } do
	OF[kind] = function() return {} end
end

-- ---- all others: by words ----

-- Values of instances that are outside of them, or after them.
local function managed(py, type, addresses)
	local L, spans = py.layout, { { from = addresses, start = addresses, offset = -3 * py.layout.word, count = 1 } }
	local ok, cached = pcall(function() return py.t:value("PyHeapTypeObject", type.addr).ht_cached_keys end)
	local keys = ok and cached and keys_at(py, xcore.addr(cached))
	if not keys then return spans end
	if L.values_embedded then
		if type.inline then
			local behind = type.basic + xcore.offsetof("PyDictValues", "values")
			spans[2] = { from = addresses, start = addresses, offset = behind, count = keys.count }
		end
		return spans
	end
	local rows = { from = {}, start = {}, count = {} }
	for _, addr in ipairs(addresses) do
		local had, _, values = pcall(dict.of_instance, py, addr, type)
		if had and values then add_row(rows, addr, values, keys.count) end
	end
	spans[2] = rows
	return spans
end

local function words(py, type, addresses)
	local at, L = {}, py.layout
	local first = type.item > 0 and 3 or 2
	for word = first, type.basic // L.word - 1 do
		local offset = word * L.word
		if offset ~= type.weak_offset then at[#at + 1] = offset end
	end
	local spans = {}
	for i = 1, #at, AT_ONCE do
		local some = table.move(at, i, math.min(i + AT_ONCE - 1, #at), 1, {})
		spans[#spans + 1] = { from = addresses, start = addresses, count = 1, stride = type.basic, at = some }
	end
	if type.managed then
		for _, span in ipairs(managed(py, type, addresses)) do spans[#spans + 1] = span end
	end
	if type.item == L.word and type.kind ~= "type" and type.kind ~= "code" then
		local c = gather("PyVarObject", addresses, { "ob_size" })
		spans[#spans + 1] = { from = addresses, start = addresses, offset = type.basic, count = clean(c.ob_size) }
	end
	return spans
end

-- Types derived from a container have its references, attributes, and words of their own: those of __slots__, or of a
-- C struct.
local function subclass(py, type, addresses, spans)
	for offset = type.own, type.item == 0 and type.basic - py.layout.word or 0, py.layout.word do -- with items, these are there
		if offset ~= type.weak_offset and offset ~= type.dict_offset then
			spans[#spans + 1] = { from = addresses, start = addresses, offset = offset, count = 1 }
		end
	end
	if type.managed then
		for _, span in ipairs(managed(py, type, addresses)) do spans[#spans + 1] = span end
	elseif type.dict_offset > 0 and type.kind ~= "tuple" then
		spans[#spans + 1] = { from = addresses, start = addresses, offset = type.dict_offset, count = 1 }
	end
	return spans
end

-- Spans of objects that are all of this type.
function references.spans(py, type, addresses)
	local own = OF[type.kind]
	if not own then return owned.spans(py, type, addresses) or words(py, type, addresses) end
	local spans = own(py, type, addresses)
	return (type.heap or type.item == 0 and type.basic > type.own) and subclass(py, type, addresses, spans) or spans
end

-- ---- reading ----

local SHORT = 8       -- elements: shorter rows are read together, the first elements of all, then the second ones, …
local SOME = 1 << 16  -- elements of a longer row that are read at once
local declared = {}

-- A struct of so many words.
local function struct_of(count)
	local name = "struct cpython_words_" .. count
	if not declared[count] then
		xcore.cdef(("%s { unsigned long word[%d]; };"):format(name, count))
		declared[count] = true
	end
	return name
end

-- The form of an element of a span: its struct, and fields.
local function element(py, span)
	local word, fields = py.layout.word, {}
	for i, offset in ipairs(span.at or { 0 }) do fields[i] = ("word[%d]"):format(offset // word) end
	return struct_of((span.stride or word) // word), fields
end

local function tell(columns, fields, fn)
	for _, field in ipairs(fields) do
		local column = columns[field]
		for i = 1, #column do
			local found = column[i]
			if found then fn(found) end
		end
	end
end

-- One element each of many rows; returns the number of unreadable ones.
local function read_elements(struct, at, fields, fn)
	if #at == 0 then return 0 end
	local columns, missing = xcore.gather(struct, at, fields, { partial = true })
	tell(columns, fields, fn)
	return missing
end

-- A row with many elements; returns whether it could be read.
local function read_row(t, struct, at, count, stride, fields, fn)
	if count > MOST or t:readable(at, count * stride) < count * stride then return false end
	while count > 0 do
		local some = math.min(count, SOME)
		local ok, columns = pcall(xcore.columns, xcore.cast(at, struct .. " *"), some, fields)
		if not ok then
			return false -- in a running process it may be gone
		end
		tell(columns, fields, fn)
		at, count = at + some * stride, count - some
	end
	return true
end

-- fn(word) for each word of a span; returns the number of unreadable rows (of short rows: elements).
function references.read(py, span, fn)
	local struct, fields = element(py, span)
	local stride, missing, short, counts = span.stride or py.layout.word, 0, {}, {}
	for i = 1, #span.from do
		local count = math.type(span.count) and span.count or span.count[i]
		local at = span.start[i] + (span.offset or 0)
		if count > SHORT then
			if not read_row(py.t, struct, at, count, stride, fields, fn) then missing = missing + 1 end
		elseif count > 0 then
			short[#short + 1], counts[#counts + 1] = at, count
		end
	end
	while #short > 0 do
		missing = missing + read_elements(struct, short, fields, fn)
		local left, left_counts = {}, {}
		for i, count in ipairs(counts) do
			if count > 1 then left[#left + 1], left_counts[#left_counts + 1] = short[i] + stride, count - 1 end
		end
		short, counts = left, left_counts
	end
	return missing
end

return references
