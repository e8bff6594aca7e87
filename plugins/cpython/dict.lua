-- dict: dictionaries and their substitutes: the values of instances whose class has the keys.
--
--	PyDictObject.ma_keys -> PyDictKeysObject | indices: size of 1, 2, 4 or 8 bytes | entries
--	entries: { hash, key, value }, or from 3.11 { key, value } when all keys are strings (dk_kind 1, and 2: split)
--	split:   the values stand elsewhere, in the order of the entries (ma_values)
local xcore = require "xcore"
local text = require "cpython.text"

local dict = {}

local SPLIT, GENERAL = 2, 0
local MOST = 1 << 28

-- The place of the entries of a table of keys: { at, count, stride, key, value, bytes }.
function dict.keys(py, addr)
	local t, L = py.t, py.layout
	local keys = t:value("PyDictKeysObject", addr)
	local log, size = nil, nil
	if L.dict_log then
		log = keys.dk_log2_size
		size = log < 40 and 1 << log or 0
	else
		size = keys.dk_size
	end
	local count = keys.dk_nentries
	if size <= 0 or size > MOST or count < 0 or count > size then
		error(
			xcore.error("format", ("%s: a dictionary of %d slots with %d entries"):format(xcore.hex(addr), size, count))
		)
	end
	local indices
	if L.dict_log and xcore.has(keys, "dk_log2_index_bytes") then
		indices = 1 << (keys.dk_log2_index_bytes & 63)
	else
		indices = size * (size <= 0xff and 1 or size <= 0xffff and 2 or size <= 0xffffffff and 4 or 8)
	end
	local head, word = xcore.offsetof("PyDictKeysObject", "dk_indices"), L.word
	local general = not L.dict_kind or keys.dk_kind == GENERAL
	local stride = general and xcore.sizeof "PyDictKeyEntry" or 2 * word
	local usable = (size << 1) // 3
	return {
		at = addr + head + indices, count = count, stride = stride, key = general and word or 0, value = general and 2 * word or word,
		size = size, usable = usable, room = L.dict_kind and count + keys.dk_usable or usable,
		shared = L.dict_kind and keys.dk_kind == SPLIT, references = keys.dk_refcnt, bytes = head + indices + usable * stride,
	}
end

-- The address of the values of a split table: an array of pointers.
local function values_at(py, addr)
	if addr == 0 then return nil end
	return py.layout.values_struct and addr + xcore.offsetof("PyDictValues", "values") or addr
end
dict.values_at = values_at

-- fn(key, value) for the entries of a table of keys; `values` is the address of the values if they are separate. fn
-- may end it by returning true.
function dict.each_entry(py, keys_addr, values, fn, most)
	local t, keys = py.t, dict.keys(py, keys_addr)
	for i = 0, math.min(keys.count, most or MOST) - 1 do
		local at = keys.at + i * keys.stride
		local key = t:ptr(at + keys.key)
		local value = values and t:ptr(values + i * py.layout.word) or not values and t:ptr(at + keys.value) or 0
		if key ~= 0 and value ~= 0 and fn(key, value) then return end
	end
end

-- fn(key, value), addresses, for each item of a dict object.
function dict.each(py, addr, fn, most)
	local v = py.t:value("PyDictObject", addr)
	local values = v.ma_values and values_at(py, xcore.addr(v.ma_values))
	if not v.ma_keys then error(xcore.error("format", xcore.hex(addr) .. ": a dictionary without keys")) end
	dict.each_entry(py, xcore.addr(v.ma_keys), values, fn, most)
end

-- The value of a string key: an address, or nil.
function dict.get(py, addr, name)
	local found
	dict.each(py, addr, function(key, value)
		if text.maybe(py.t, key, #name + 1) == name then
			found = value
			return true
		end
	end, 100000)
	return found
end

-- ---- attributes of instances ----

--	3.11 with a managed dictionary:  | values | dict | gc head: 2 words | object      one of the two
--	3.12                             | weakrefs | dict, or values - 1 | gc head | object
--	3.13                             | weakrefs | dict | gc head | object | values, if the class has them inline and they are valid
-- Returns the address of a dict object, or nil, values and the keys that they belong to.
function dict.of_instance(py, addr, type)
	local t, L = py.t, py.layout
	if not type.managed then
		local offset = type.dict_offset
		if offset < 0 then
			local size = math.abs(t:i64(addr + L.ob_size))
			offset = ((type.basic + size * type.item + 7) & ~7) + offset
		end
		if offset <= 0 then return nil end
		local found = t:ptr(addr + offset)
		return found ~= 0 and found or nil
	end
	local keys = py.t:value("PyHeapTypeObject", type.addr).ht_cached_keys
	keys = keys and xcore.addr(keys)
	local before = t:ptr(addr - 3 * L.word)
	if L.values_tagged then
		if before & 1 == 1 then return nil, values_at(py, before + 1), keys end
		return before ~= 0 and before or nil
	end
	if L.values_embedded then
		if before ~= 0 then return before end
		local values = addr + type.basic
		if type.inline and t:value("PyDictValues", values).valid ~= 0 then return nil, values_at(py, values), keys end
		return nil
	end
	if before ~= 0 then return before end
	local values = t:ptr(addr - 4 * L.word)
	if values == 0 then return nil end
	return nil, values_at(py, values), keys
end

-- fn(key, value) for each attribute of an instance.
function dict.each_attribute(py, addr, type, fn, most)
	local found, values, keys = dict.of_instance(py, addr, type)
	if found then return dict.each(py, found, fn, most) end
	if values and keys then dict.each_entry(py, keys, values, fn, most) end
end

return dict
