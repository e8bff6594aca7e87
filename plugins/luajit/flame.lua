-- flame: the flame graph of all objects, below their referrers: "_G", "table .users", "table [*]", "string .name".
-- Each frame is a type and the name that the object above uses. There may be millions, so names need few reads; keys
-- of very large tables are "[*]".
-- With redaction, keys and names are the user's data: only types and kinds of references are shown.
local xcore = require "xcore"
local graph = require "luajit.graph"
local label = require "luajit.label"
local layout = require "luajit.layout"
local tvalue = require "luajit.tvalue"
local vm_of = require "luajit.vm"

local flame = {}

local MOST_KEYS = 512 -- slots of a table whose keys are distinguished

-- A function that names an entry of a table: " .name", " [*]", " []".
local function namer_of_tables(vm)
	local t, L = vm.t, vm.layout
	local ptr = L.mref == "ptr64" and t.u64 or t.u32
	local node_at, hmask_at = xcore.offsetof("GCtab", "node"), xcore.offsetof("GCtab", "hmask")
	local metatable_at = xcore.offsetof("GCtab", "metatable")
	local stride, val, key = xcore.sizeof "Node", xcore.offsetof("Node", "val"), xcore.offsetof("Node", "key")
	local shift, gct_at, names, pack, unpack =
		tvalue.scan(vm).tag.shift, xcore.offsetof("GChead", "gct"), {}, string.pack, string.unpack
	local function name_of(bits)
		local name = names[bits]
		if not name then
			local text = label.key(vm, bits)
			name = text:find "^%." and " " .. text or " [*]"
			names[bits] = name
		end
		return name
	end
	return function(above, addr)
		local hmask = t:u32(above + hmask_at)
		if hmask > 0 and hmask < MOST_KEYS then
			local bytes = t:read(ptr(t, above + node_at), (hmask + 1) * stride)
			local word, from = pack("<i8", ~t:u8(addr + gct_at) << shift | addr), 1
			while true do
				local at = bytes:find(word, from, true)
				if not at then break end
				local place = (at - 1) % stride
				if place == val then return name_of((unpack("<i8", bytes, at - val + key))) end
				if place == key then return " (key)" end
				from = at + 1
			end
		elseif hmask > 0 then
			return ptr(t, above + metatable_at) == addr and " metatable" or " [*]"
		end
		return ptr(t, above + metatable_at) == addr and " metatable" or " []"
	end
end

-- What the function that leads to an upvalue calls it: its value must not look like another one on the same path, for
-- frames of one name are one frame.
local function namer_of_upvalues(vm, g, by)
	local names = {}
	return function(upvalue)
		local name = names[upvalue]
		if not name then
			local holder
			if by == "dominator" then
				holder = g:dominator(upvalue)
			else
				local path = g:path(upvalue)
				holder = path and path[#path - 1]
			end
			name = holder and label.of(vm, holder, upvalue) or "?"
			name = name:find "^upvalue " and name or "upvalue"
			names[upvalue] = name
		end
		return name
	end
end

-- A function for g:fill.
local function namer(vm, g, by)
	local of_upvalue = namer_of_upvalues(vm, g, by)
	local in_table, gct_at, u8 = namer_of_tables(vm), xcore.offsetof("GChead", "gct"), vm.t.u8
	return function(addr, kind, above)
		if not above then return kind end
		local gct = u8(vm.t, above + gct_at)
		if gct == layout.TABLE then
			local ok, name = pcall(in_table, above, addr)
			return ok and kind .. name or kind
		end
		if gct == layout.UPVALUE then return kind .. " of " .. of_upvalue(above) end
		if gct == layout.PROTO and kind == "string" then return kind end
		local name = label.of(vm, above, addr)
		if name == "" or name == "?" or name == kind then return kind end
		return name:find "^%." and kind .. " " .. name or kind == "upvalue" and name or kind .. " " .. name
	end
end

-- The same without keys and names of variables: "table [*]", "table of upvalue".
local function nameless(vm)
	local in_table, gct_at = namer_of_tables(vm), xcore.offsetof("GChead", "gct")
	return function(addr, kind, above)
		local gct = above and vm.t:u8(above + gct_at)
		if gct == layout.UPVALUE then return kind .. " of upvalue" end
		if gct ~= layout.TABLE then return kind end
		local ok, name = pcall(in_table, above, addr)
		return ok and kind .. (name:find "^ %." and " [*]" or name) or kind
	end
end

-- Of a flame graph, `by` "path" or "dominator".
function flame.fill(t, tree, by)
	local vm = vm_of.one(t)
	local g = graph.of(vm)
	g:fill(tree, { by = by, name = xcore.redacts() and nameless(vm) or namer(vm, g, by) })
end

return flame
