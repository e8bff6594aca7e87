-- filters.lua: the filter chains of response headers and bodies.
--
--	ngx_http_top_header_filter → the first filter;  each filter's file has a static pointer to the next one, of one name in most files:
--	ngx_http_gzip_filter_module.c::ngx_http_next_header_filter
--
-- So the file of a function determines where its chain continues. This needs debug information: without it, the chain
-- ends at its first link.
local xcore = require "xcore"
local cycle = require "nginx.cycle"

local filters = {}

local MOST = 200
-- The functions that the last filters call are not filters.
local LAST = { ngx_http_header_filter = true, ngx_http_write_filter = true, ngx_http_v2_header_filter = false, ngx_stream_write_filter = true }

-- The possible names of a file's pointer to the next filter.
local function names_of(kind, which, symbol)
	local prefix = symbol:match "^(ngx_%a+_lua)_" or symbol:match "^(%l+_%l+_%l+)_"
	local list = { ("ngx_%s_next_%s"):format(kind, which) }
	if prefix then list[#list + 1] = ("%s_next_%s"):format(prefix, which) end
	return list
end

-- The pointer by which a file calls the next filter: an address, 0 for NULL; nil if there is no such variable.
local function next_of(t, kind, which, symbol, file)
	for _, name in ipairs(names_of(kind, which, symbol)) do
		for _, where in ipairs { file .. "::" .. name, name } do
			if (where ~= name or name:find "lua") and t:has_var(where) then return t:ptr(xcore.addr(t:ref(where))) end
		end
	end
end

-- The chain of "http" or "stream", "header_filter" or "body_filter" (or stream's "filter"), from the top: {name,
-- file, line, addr}. The second value is the reason if the chain could not be followed to its end.
function filters.chain(t, kind, which)
	local at = cycle.var(t, ("ngx_%s_top_%s"):format(kind, which), "ngx_uint_t")
	local found, seen = {}, {}
	while at and at ~= 0 and #found < MOST do
		local place = t:symbolize(at)
		local name = place and place.name
		found[#found + 1] = { name = name, file = place and place.file and place.file:match "[^/]+$", line = place and place.line, addr = at }
		if not name then return found, ("no known function is at %s"):format(xcore.hex(at)) end
		if LAST[name] then return found end
		if seen[at] then return found, ("%s is in the chain twice"):format(name) end
		seen[at] = true
		local file = found[#found].file
		at = file and next_of(t, kind, which, name, file)
		if not at then
			return found, ("the filter after %s is unknown: debug information lacks the variables of its file"):format(name)
		end
	end
	return found
end

return filters
