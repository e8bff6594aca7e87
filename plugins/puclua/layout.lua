-- layout: the layout of this build's structs, determined by their members. All other modules use it.
--
--	            5.1             5.2             5.3             5.4              (lobject.h, lstate.h)
--	TValue      value, tt       value_, tt_     value_, tt_     value_, tt_ (a byte)
--	stack slot  TValue          TValue          TValue          StackValue, a union
--	calls       an array        linked, from lua_State.base_ci
--	table       sizearray       sizearray       sizearray       alimit
--	strings     all in strt     short in strt   all in allgc
--	upvalues    objects, open ones in a ring    counted         objects
--	lines       an int for each instruction                     a byte, and absolute ones now and then
local xcore = require "xcore"

local layout = {}

layout.STRING, layout.TABLE, layout.FUNCTION, layout.USERDATA, layout.THREAD = 4, 5, 6, 7, 8
layout.KINDS = { "string", "table", "function", "userdata", "thread", "prototype", "upvalue" }

-- The offset of a member, by the first of its names that exists; nil if there is none.
local function at(type, ...)
	for _, name in ipairs { ... } do
		local ok, offset = pcall(xcore.offsetof, type, name)
		if ok then return offset, name end
	end
end
layout.at = at

local function need(type, ...)
	local offset, name = at(type, ...)
	if not offset then
		error(xcore.error("unsupported", ("unknown Lua version: its %s has no %s"):format(type, (...))))
	end
	return offset, name
end

local function add_values(L)
	L.value_size = xcore.sizeof "TValue"
	L.tt = need("TValue", "tt_", "tt")
	L.node_size, L.node_value = xcore.sizeof "Node", need("Node", "i_val")
	L.key_value = need("Node", "u.key_val", "i_key.nk.value_", "i_key.nk.value")
	L.key_tt = need("Node", "u.key_tt", "i_key.nk.tt_", "i_key.nk.tt")
end

local function add_thread(L)
	for _, name in ipairs { "top", "stack", "stack_last" } do L[name] = need("lua_State", name .. ".p", name) end
	L.func, L.ci_top = need("CallInfo", "func.p", "func"), need("CallInfo", "top.p", "top")
	L.uv_v = need("UpVal", "v.p", "v")
	for _, m in ipairs(xcore.target:type "LG":strip():members()) do
		if m.name == "l" then L.thread_size = m.type.size end
	end
	L.extra_space = xcore.sizeof "LG" - xcore.sizeof "global_State" - xcore.sizeof "lua_State"
end

-- The source: nil for debug information, else the version whose layout is used.
local function known(t)
	local missing
	for _, name in ipairs { "global_State", "lua_State", "TValue", "Node", "CallInfo", "Proto", "LG" } do
		if not t:has_type(name) then missing = missing or name end
	end
	if not missing then return nil end
	local version = require("puclua.cdef").declare(t)
	if version then return version end
	error(xcore.error("unsupported", ("there is no type %s: debug information of Lua is missing, and its strings match no known version"):format(
			missing),
		"build Lua with -g, or give its debug file"))
end

-- Facts of the target's Lua. Raises `unsupported` if debug information lacks its structs.
function layout.of(t)
	local declared = known(t)
	local state, proto = t:type "global_State", t:type "Proto"
	local L = {
		array_of_calls = xcore.has(t:type "CallInfo", "savedpc"), -- 5.1
		tagged_header = t:has_type "GCheader",                    -- 5.1, 5.2
		counted = xcore.has(t:type "UpVal", "refcount"),          -- 5.3
		alimit = xcore.has(t:type "Table", "alimit"),             -- 5.4
		absolute_lines = xcore.has(proto, "abslineinfo"),
		fixed_list = xcore.has(state, "fixedgc"),
		debt = xcore.has(state, "GCdebt"),
	}
	L.header = L.tagged_header and "gch." or ""
	L.string = L.tagged_header and "tsv." or ""
	L.userdata = L.tagged_header and "uv." or ""
	L.proto, L.upvalue = L.alimit and 10 or 9, L.alimit and 9 or 10
	L.declared = declared
	L.version = L.array_of_calls and "5.1" or L.tagged_header and "5.2" or L.counted and "5.3" or "5.4"
	L.names =
		{ [4] = "string", [5] = "table", [6] = "function", [7] = "userdata", [8] = "thread", [L.proto] = "prototype" }
	if not L.counted then L.names[L.upvalue] = "upvalue" end
	add_values(L)
	add_thread(L)
	return L
end

-- Is a value with this tag a reference to an object?
function layout.collectable(L, tt)
	if L.array_of_calls then return tt >= 4 and tt <= 8 end
	return tt & 0x40 ~= 0
end

-- The g:scan options for tags `behind` the word: only collectable values are references.
function layout.tag(L, behind)
	if L.array_of_calls then return { at = behind, width = 4, lo = 4, hi = 8 } end
	return { at = behind, width = 1, mask = 0x40, lo = 0x40, hi = 0x40 }
end

return layout
