-- cdef.lua: nginx's types as C declarations, for programs without debug information. They depend on nginx's version,
-- the options in its modules' signatures (ngx_module.h) and the version of the Lua module, which layout.lua
-- determines. Types and members have nginx's names, so other code need not know where they come from.
local cdef = {}

local HEAD = [[
typedef intptr_t ngx_int_t, ngx_flag_t, ngx_msec_int_t;
typedef uintptr_t ngx_uint_t, ngx_msec_t, ngx_rbtree_key_t, ngx_atomic_t, ngx_atomic_uint_t;
typedef int ngx_fd_t, ngx_socket_t, ngx_pid_t, ngx_err_t, sig_atomic_t;
typedef unsigned char u_char;
typedef unsigned short u_short, in_port_t;
typedef unsigned long ngx_file_uniq_t;
typedef long time_t;
typedef int64_t off_t;
typedef uint32_t socklen_t;
typedef void (*ngx_pt)(void);
typedef ngx_pt ngx_http_handler_pt, ngx_event_handler_pt;
]]

-- "1.22.1" in nginx's form: 1022001.
function cdef.number(text)
	local major, minor, patch = text:match "^(%d+)%.(%d+)%.(%d+)$"
	return major * 1000000 + minor * 1000 + patch
end

local function one(build, condition)
	local what, sign, number = condition:match "^(%l*)([<>])([%d.]+)$"
	if not sign then return build.has[condition] or false end
	local own = what == "lua" and build.lua or build.version
	local limit = what == "lua" and tonumber(number) or cdef.number(number)
	if sign == ">" then return own >= limit end
	return own < limit
end

-- Does a condition hold: "ssl&pcre", "gzip|headers", ">1.21.0"?
local function holds(build, condition)
	if condition:find "|" then
		for part in condition:gmatch "[^|]+" do
			if one(build, part) then return true end
		end
		return false
	end
	for part in condition:gmatch "[^&]+" do
		if not one(build, part) then return false end
	end
	return true
end

-- The lines of a build, after declarations of all structs.
local function lines_of(build, text)
	local names, lines = {}, {}
	for line in text:gmatch "[^\n]+" do
		local condition, rest = line:match "^\t%?(%S+) (.*)$"
		if not condition or holds(build, condition) then lines[#lines + 1] = rest or line end
		local kind, name = line:match "^(%l+) ([%w_]+)_s {$"
		if kind then names[#names + 1] = ("typedef %s %s_s %s_t;"):format(kind, name, name) end
	end
	return table.concat(names, "\n") .. "\n", table.concat(lines, "\n") .. "\n"
end

-- The text of a build: { version = 1022001, has = { ssl = true, … }, lua = 10023 or nil }. Without `lua`, the types
-- of the Lua module are omitted.
function cdef.text(build)
	local parts = require "nginx.cdef_core" .. require "nginx.cdef_http"
	if build.lua then parts = parts .. require "nginx.cdef_lua" end
	local names, lines = lines_of(build, parts)
	return HEAD .. names .. lines
end

return cdef
