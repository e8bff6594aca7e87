-- layout.lua: nginx's types without debug information: those of the likely build (build.lua), as declared by
-- cdef.lua, after proof.lua has verified them against memory.
local xcore = require "xcore"
local build = require "nginx.build"
local cdef = require "nginx.cdef"
local proof = require "nginx.proof"

local layout = {}

local OLDEST, NEWEST = 1018000, 1026999 -- range whose layouts were compared with a compiler's
-- The ngx_lua versions since which its structs are as in cdef_lua.lua: the newest verified one is used.
local LUA = { 10027, 10023 }

local known
local types = {}

local function refuse(format, ...)
	error(xcore.error("not_found", "this nginx has no debug information, and " .. format:format(...),
		"install it (nginx-dbg, nginx-dbgsym, debuginfod), or give the program with --exe"))
end

-- The candidate that is verified, its cycle and the proofs; or nil and the mismatches of the best one.
local function choose(t, candidates)
	local fewest, why = math.huge, nil
	for _, one in ipairs(candidates) do
		local D = xcore.cdef(cdef.text(one), { private = true })
		local cycle, words, failed = proof.cycle(t, D)
		if cycle then return one, cycle, words end
		if #failed < fewest then fewest, why = #failed, table.concat(failed, ", ") end
	end
	return nil, why
end

-- The verified version of the Lua module's structs, and the proofs; nil and the reason if there is none.
local function lua_of(t, one, cycle)
	for _, version in ipairs(LUA) do
		local D = xcore.cdef(cdef.text(setmetatable({ lua = version }, { __index = one })), { private = true })
		local done, words = pcall(proof.lua_module, t, D, cycle)
		if done and words then return version, words end
		if done and words == false then return nil end -- nginx does not have it
	end
	return nil, nil, "the Lua module's structures match no known layout"
end

local function find(t)
	local candidates = build.candidates(t)
	if #candidates == 0 then refuse "its first module, which contains its version, was not found" end
	local one, cycle, words = choose(t, candidates)
	if not one then refuse("no layout of nginx %s could be verified (%s)", build.version(candidates[1]), cycle) end
	one.cycle, one.words = cycle, words
	local lua_words
	one.lua, lua_words, one.lua_why = lua_of(t, one, cycle)
	table.move(lua_words or {}, 1, lua_words and #lua_words or 0, #words + 1, words)
	xcore.cdef(cdef.text(one))
	return one
end

-- Declares nginx's types. Returns the build if they come from cdef.lua, nil if debug information has them. Raises
-- not_found with the failed proofs if there is neither.
function layout.declare(t)
	if known == nil then
		if t:has_type "ngx_cycle_t" and not t:type "ngx_cycle_t".incomplete then
			known = { build = false }
		else
			local done, found = pcall(find, t)
			known = done and { build = found } or { why = found }
		end
	end
	if known.why then error(known.why, 0) end
	return known.build or nil
end

-- Are the types known? If not, the error is the reason.
function layout.known(t)
	return pcall(layout.declare, t)
end

-- Is there such a type? Asked once: debug information is searched for every missing name.
function layout.has(t, name)
	if types[name] == nil then
		pcall(layout.declare, t)
		types[name] = t:has_type(name)
	end
	return types[name]
end

-- The origin of the types: the layout in words, the proofs in words, and the unknown parts of the Lua module; nil
-- with debug information.
function layout.describe(t)
	local one = layout.declare(t)
	if not one then return nil end
	local options = {}
	for name in pairs(build.PLACES) do
		if one.has[name] then options[#options + 1] = name end
	end
	table.sort(options)
	local text = ("nginx %s with %s, by %s"):format(build.version(one), table.concat(options, " "), one.told)
	if one.lua then text = text .. ("; ngx_lua 0.10.%d or later"):format(one.lua - 10000) end
	if one.version < OLDEST or one.version > NEWEST then
		text = text .. "; this version was never compared with debug information"
	end
	return text, table.concat(one.words, "; "), one.lua_why
end

return layout
