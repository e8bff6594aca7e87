-- The build of this LuaJIT: the width of its references and the layout of its types. All facts come from the names of
-- members, never from a version. Names of types are the same from debug information and from xcore.cdef (cdef.lua),
-- so the rest of the plugin need not distinguish the two.
--
-- Layouts: LuaJIT 2.1, src/lj_obj.h, lj_jit.h, lj_ctype.h, lj_dispatch.h (upstream and OpenResty's luajit2).
local xcore = require "xcore"
local guess = require "luajit.guess"

local layout = {}
local found

-- Tags of values, complemented (lj_obj.h, LJ_TNIL…); they are also the numbers of GC types. They are macros, so debug
-- information lacks them; they are unchanged since 2.0.
layout.NAMES = {
	[0] = "nil", "false", "true", "lightuserdata", "string", "upvalue", "thread", "proto", "function", "trace", "cdata", "table",
	"userdata", "number",
}
layout.STRING, layout.UPVALUE, layout.THREAD, layout.PROTO, layout.FUNCTION = 4, 5, 6, 7, 8
layout.TRACE, layout.CDATA, layout.TABLE, layout.USERDATA, layout.INTEGER = 9, 10, 11, 12, 13

local function has(type, member)
	return xcore.has(type, member)
end

local function describe(t)
	local L = { types = {} }
	local function type(name)
		L.types[name] = L.types[name] or t:type(name)
		return L.types[name]
	end
	L.type = type
	L.gc64 = xcore.sizeof(type "GCRef") == 8
	L.fr2 = L.gc64 and 1 or 0
	L.ref = L.gc64 and "gcptr64" or "gcptr32"
	L.mref = L.gc64 and "ptr64" or "ptr32"
	L.ref_size = L.gc64 and 8 or 4
	L.next = "nextgc." .. L.ref
	-- Members that moved over time.
	L.interned = has(type "global_State", "str")             -- 2020-06: g.str.tab, before g.strhash
	L.padded_strings = has(type "GCstr", "hashalg") or has(type "GCstr", "sid") -- sizes rounded up to 4
	L.segments = has(type "GCState", "lightudseg")           -- 2020-10
	L.text_buffers = has(type "SBuf", "w")                   -- 2021-03: char *, before MRef
	L.openresty = has(type "lua_State", "exdata")
	return L
end

-- The layout of a target; raises not_found if neither debug information nor a proof gives it.
function layout.of(t)
	if not found then
		local build = not layout.known(t) and guess.declare(t) or nil
		found = describe(t)
		found.build = build
	end
	return found
end

-- Its origin, in words.
function layout.describe(t)
	local build = layout.of(t).build
	if not build then return "of debug information" end
	return "guessed and proved without debug information: " .. guess.describe(build)
end

-- Is there debug information, or a chosen cdef?
function layout.known(t)
	return found ~= nil
		or (t:has_type "GG_State" and t:has_type "GCtab" and t:has_type "GCproto" and not t:type "GG_State".incomplete)
end

return layout
