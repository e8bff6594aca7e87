-- build.lua: the build options of an nginx without debug information, which determine its layouts.
--
-- Every module was compiled with nginx's version and a signature, which nginx compares before it loads a module:
--
--	ngx_module_t.version    1022001
--	ngx_module_t.signature  "8,4,8,0000111111010111001110101111000110"    sizes of pointers, sig_atomic_t and time_t; then by place
--	                                                                      (src/core/ngx_module.h, 1.26): what structs depend on
--
-- The text of `nginx -V`, a constant of the program, has the other options: "configure arguments: --with-…". A core
-- may lack the program's constants (gdb's gcore omits them). In this case the functions and modules that are present
-- give the same information, except for two options, which are tried.
local xcore = require "xcore"

local build = {}

-- Positions in the signature.
build.PLACES = { aio = 3, nodiskio = 4, quic = 18, threads = 22, pcre = 23, ssl = 24, gzip = 26, forwarded = 28, realip = 29, headers = 30,
	dav = 31, cache = 32, zone = 33, compat = 34 }
local PATTERN, LENGTH = "^%d,%d,%d,([01]+)$", 34
local OLDEST, NEWEST = 1000000, 2000000
local MODULE = [[
struct head { uintptr_t ctx_index, index; char *name; uintptr_t spare0, spare1, version; char *signature; };
]]
local MOST_TRIES = 64

-- Symbols that exist in a program only with the option; any of them is enough.
local TELLS = {
	aio = { "ngx_file_aio_init" }, quic = { "ngx_quic_run" }, threads = { "ngx_thread_pool_module" }, pcre = { "ngx_regex_module" },
	ssl = { "ngx_openssl_module" }, gzip = { "ngx_http_gzip_ok" }, realip = { "ngx_http_realip_module" }, dav = { "ngx_http_dav_module" },
	forwarded = { "ngx_http_proxy_module", "ngx_http_geo_module", "ngx_http_realip_module", "ngx_http_geoip_module" },
	cache = { "ngx_http_file_cache_new" }, zone = { "ngx_http_upstream_zone_module" }, http_ssl = { "ngx_http_ssl_module" },
	stream_zone = { "ngx_stream_upstream_zone_module" },
}
-- Options for which --with-compat reserves space.
local BY_COMPAT = { "aio", "nodiskio", "threads", "ssl", "compat", "gzip", "dav", "realip", "forwarded", "headers", "zone", "stream_zone" }

-- ---- the first module ----

local function head_at(t, D, addr)
	local head = t:value(D:type "struct head", addr)
	local version = head.version
	if version < OLDEST or version >= NEWEST then return nil end
	local done, text = pcall(xcore.str, head.signature, 64)
	local flags = done and text and text:match(PATTERN)
	return { version = version, flags = flags and #flags == LENGTH and flags or nil, text = text, addr = addr }
end

-- Without symbols: the signature is in the program's constants, and the modules point to it.
local function by_signature(t, D)
	local back, tries = xcore.offsetof(D:type "struct head", "signature"), 0
	for _, sizes in ipairs { "8,4,8,0", "4,4,4,0", "4,4,8,0" } do
		for at in t:find { bytes = sizes, writable = false } do
			tries = tries + 1
			if tries > MOST_TRIES then return nil end
			local done, text = pcall(t.cstring, t, at, 64)
			for pointer in t:find { pointer_to = { at, at }, writable = true, max = done and text:match(PATTERN) and MOST_TRIES or 0 } do
				local ok, head = pcall(head_at, t, D, pointer - back)
				if ok and head and head.flags then return head end
			end
		end
	end
end

local function first_module(t)
	local D = xcore.cdef(MODULE, { private = true })
	if t:has_symbol "ngx_core_module" then
		local done, head = pcall(head_at, t, D, t:symbol "ngx_core_module".addr)
		if done and head then return head end
	end
	return by_signature(t, D)
end

-- ---- options ----

-- The output of `nginx -V`; nil if the program's constants cannot be read.
local function arguments_of(t, addr)
	local module = t:module(addr)
	for at in t:find { bytes = "configure arguments:", within = { { module.lo, module.hi } }, max = 1 } do
		local done, text = pcall(t.cstring, t, at, 16384)
		if done then return text end
	end
end

local function by_flags(t, head)
	local has, arguments = {}, arguments_of(t, head.addr)
	for name, place in pairs(build.PLACES) do has[name] = head.flags:sub(place, place) == "1" end
	has.http_ssl = arguments and arguments:find "%-%-with%-http_ssl_module" ~= nil or not arguments and has.ssl
	has.stream_zone = has.compat or not (arguments and arguments:find "%-%-without%-stream_upstream_zone_module")
	return { version = head.version, has = has, data = head.addr, told = "its modules' signature" }
end

local function by_symbols(t, head, compat, headers)
	local has = { headers = headers }
	for name, symbols in pairs(TELLS) do
		for _, symbol in ipairs(symbols) do has[name] = has[name] or t:has_symbol(symbol) end
	end
	has.stream_zone = has.stream_zone or not t:has_symbol "ngx_stream_module"
	for _, name in ipairs(compat and BY_COMPAT or {}) do has[name] = true end
	has.quic = has.quic or compat and head.version >= 1025000
	return { version = head.version, has = has, data = head.addr, told = "the functions that it has" }
end

-- Are there modules in separate files? They are mostly built for --with-compat.
local function loads_modules(t, head)
	local own = t:module(head.addr)
	for _, name in ipairs { "ngx_http_lua_module", "ngx_stream_module", "ngx_mail_module", "ngx_http_perl_module", "ngx_http_geoip2_module" } do
		local file = t:has_symbol(name) and t:module(t:symbol(name).addr)
		if file and file.path ~= own.path then return true end
	end
	return false
end

-- Possible builds, the most likely first: { version, has = { ssl = true, … }, told, data (an address in the program's
-- data) }; empty if nothing is known.
function build.candidates(t)
	local head = first_module(t)
	if not head then return {} end
	if head.flags then return { by_flags(t, head) } end
	local list, loaded = {}, loads_modules(t, head)
	for _, compat in ipairs { loaded, not loaded } do
		for _, headers in ipairs { true, false } do list[#list + 1] = by_symbols(t, head, compat, headers) end
	end
	return list
end

function build.version(one)
	return ("%d.%d.%d"):format(one.version // 1000000, one.version // 1000 % 1000, one.version % 1000)
end

return build
