-- zones.lua: nginx's zones of shared memory: the purpose of each, and the parts that all kinds have in common.
--
-- The tag of a zone is the address of the module that created it. A lua_shared_dict is wrapped (since
-- lua-nginx-module 0.10.4): the data of nginx's own zone is an ngx_http_lua_shm_zone_ctx_t, which holds the zone of
-- the dictionary.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local str = require "nginx.str"

local zones = {}

zones.KINDS = {
	ngx_http_lua_module = "lua_shared_dict", ngx_stream_lua_module = "lua_shared_dict",
	ngx_http_limit_req_module = "limit_req", ngx_http_limit_conn_module = "limit_conn", ngx_stream_limit_conn_module = "limit_conn",
	ngx_http_proxy_module = "cache", ngx_http_fastcgi_module = "cache", ngx_http_uwsgi_module = "cache", ngx_http_scgi_module = "cache",
	ngx_http_ssl_module = "ssl sessions", ngx_stream_ssl_module = "ssl sessions", ngx_mail_ssl_module = "ssl sessions",
	ngx_http_upstream_module = "upstream", ngx_stream_upstream_module = "upstream", -- whose `zone` it is, not …_zone_module
}

local function modules_by_address(t)
	local names = {}
	for _, module in ipairs(cycle.modules(t)) do names[module.addr] = module.name end
	return names
end

-- The data of a zone with the struct of its kind: for a wrapped zone, the data of the inner zone.
local function data_of(t, zone, module)
	local data = zone.data
	if data == nil then return nil end
	local wrapper = module and module:find "lua" and module:gsub("_module$", "_shm_zone_ctx_t")
	if not wrapper or not layout.has(t, wrapper) then return xcore.addr(data) end
	local inner = xcore.cast(data, wrapper .. " *").zone
	local done, name = pcall(str.text, inner.shm.name)
	if not done or name ~= str.text(zone.shm.name) then return xcore.addr(data) end
	return inner.data and xcore.addr(inner.data)
end

-- All zones: { name, kind, module, addr, size, data, value }; kind is "other" for unknown modules.
function zones.all(t)
	local found, names = {}, modules_by_address(t)
	for _, zone in list.list(cycle.of(t).shared_memory, "ngx_shm_zone_t") do
		local module = zone.tag and names[xcore.addr(zone.tag)]
		found[#found + 1] = {
			name = str.try(zone.shm.name) or "?", module = module, kind = zones.KINDS[module] or "other",
			addr = zone.shm.addr and xcore.addr(zone.shm.addr) or 0, size = zone.shm.size,
			data = damage.try(data_of, t, zone, module), value = zone,
		}
	end
	return found
end

-- The zone with a name, and with a kind if one is given. Raises usage with the existing names.
function zones.named(t, name, kind)
	local names = {}
	for _, zone in ipairs(zones.all(t)) do
		if not kind or zone.kind == kind then
			if zone.name == name then return zone end
			names[#names + 1] = zone.name
		end
	end
	error(xcore.error("usage", ("no %s '%s'"):format(kind or "zone", name or ""), #names > 0 and "there are " .. table.concat(names, ", ") or nil))
end

-- The struct of a zone's kind in the worker's memory: "ngx_http_limit_req_ctx_t"; nil if the zone has none or its
-- type is unknown.
function zones.context(t, zone, type)
	if not zone.data or zone.data == 0 or not layout.has(t, type) then return nil end
	return t:value(type, zone.data)
end

-- The contents of an LRU queue as columns, most recently used first. `addresses` are those of the structs.
function zones.queue(head, type, member, fields)
	local first = head.next
	if first == nil or xcore.addr(first) == xcore.addr(head) then return { [1] = {} }, 0 end
	return xcore.follow(first, "next", fields, { stop = head, partial = true, addresses = true, container = { type, member }, max = 20000000 })
end

return zones
