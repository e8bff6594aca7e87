-- conf.lua: the configuration that the worker uses: listening sockets, servers, locations with their handlers.
--
--	ngx_listening_t.servers → ngx_http_port_t { addrs, naddrs } → ngx_http_in_addr_t.conf { default_server, virtual_names → hash }
--	ngx_http_core_main_conf_t.servers[] → ngx_http_core_srv_conf_t { server_name, ctx }
--	ctx->loc_conf[core] → ngx_http_core_loc_conf_t { static_locations: a tree, regex_locations: ends with NULL, loc_conf }
--
-- Data needed only to parse nginx.conf (ports, lists of names, the order of locations) was in a pool that was freed.
--
--	ngx_hash_t { buckets, size } → ngx_hash_elt_t { value, len, name … } one after the other, aligned to words, up to a value of NULL
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local layout = require "nginx.layout"
local list = require "nginx.list"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local str = require "nginx.str"

local conf = {}

local MOST = 100000
local DEEPEST = 64
local UNSET = -1

local function ctx_index(t, name)
	local module = cycle.module(t, name)
	return module and module.ctx_index
end

-- The conf of a module among those of a server or location; nil if the module is absent or its type is unknown.
local function conf_of(t, array, name, type)
	local index = layout.has(t, type) and ctx_index(t, name)
	local found = index and array and array[index]
	return found and xcore.addr(found) ~= UNSET and xcore.deref(xcore.cast(found, type .. " *")) or nil
end

-- ---- names and sockets ----

local function names_of_hash(t, hash, add)
	if not hash.buckets or math.ult(MOST, hash.size) then return end
	local name_at, word = xcore.offsetof("ngx_hash_elt_t", "name"), t.pointer_size
	for i = 0, hash.size - 1 do
		local element = hash.buckets[i]
		local at = element and xcore.addr(element)
		for _ = 1, MOST do
			local one = at and t:value("ngx_hash_elt_t", at)
			if not one or not one.value then break end
			add(t:read(at + name_at, one.len), xcore.addr(one.value))
			at = at + (name_at + one.len + word - 1 & -word)
		end
	end
end

-- The server names of an address: add(name, address of the server's conf).
local function virtual_names(t, of, add)
	local names = of.virtual_names
	if not names then return end
	local hashed = maybe.get(names, "names.hash")
	if hashed then names_of_hash(t, hashed, add) end
	for i = 0, (maybe.get(names, "nregex") or 0) - 1 do
		local one = names.regex[i]
		if one.server then add(str.try(one.name, 256), xcore.addr(one.server)) end
	end
end

-- The ports of one socket: the confs of its addresses.
local function addresses_of(t, socket)
	local port = socket.servers and xcore.deref(xcore.cast(socket.servers, "ngx_http_port_t *"))
	local family = t:u16(xcore.addr(socket.sockaddr))
	local type = family == 10 and layout.has(t, "ngx_http_in6_addr_t") and "ngx_http_in6_addr_t" or "ngx_http_in_addr_t"
	local found = {}
	for i = 0, port and math.min(port.naddrs, MOST) - 1 or -1 do
		found[#found + 1] = xcore.cast(port.addrs, type .. " *")[i].conf
	end
	return found
end

local function flags_of(of)
	local flags = {}
	for _, name in ipairs { "ssl", "http2", "http3", "quic", "proxy_protocol" } do
		local set = maybe.get(of, name)
		if set and set ~= 0 then flags[#flags + 1] = name end
	end
	return table.concat(flags, " ")
end

local function note(map, key, text)
	local texts = map[key] or {}
	map[key] = texts
	if text and not texts[text] then
		texts[text] = true
		texts[#texts + 1] = text
	end
end

-- The listening sockets, and by the address of a server's conf: its sockets and its names.
function conf.sockets(t)
	local found = { sockets = {}, listens = {}, names = {} }
	for _, socket in list.array(cycle.of(t).listening, "ngx_listening_t") do
		local handler = func.name(socket.handler)
		local one = { address = str.try(socket.addr_text, 256), fd = socket.fd, backlog = socket.backlog, handler = handler, servers = 0 }
		found.sockets[#found.sockets + 1] = one
		if handler == "ngx_http_init_connection" or handler == nil and socket.servers then
			for _, of in ipairs(damage.try(addresses_of, t, socket) or {}) do
				local flags = flags_of(of)
				one.flags = flags
				local text = one.address .. (flags ~= "" and " " .. flags or "")
				if of.default_server then note(found.listens, xcore.addr(of.default_server), text .. " default") end
				damage.try(virtual_names, t, of, function(name, server)
					note(found.names, server, name)
					if xcore.addr(of.default_server) ~= server then note(found.listens, server, text) end
				end)
			end
		end
	end
	return found
end

-- ---- locations ----

local LUA = { "rewrite", "access", "content", "header_filter", "body_filter", "log" }

-- "access: access_by_lua(nginx.conf:54)" for each phase with Lua; { phase = its place }.
local function lua_of(t, confs)
	local own = conf_of(t, confs, "ngx_http_lua_module", "ngx_http_lua_loc_conf_t")
	local found = {}
	for _, phase in ipairs(own and LUA or {}) do
		if maybe.get(own, phase .. "_handler") then
			local chunk = maybe.get(own, phase .. "_chunkname")
			local text = chunk and damage.try(xcore.str, chunk, 256)
			if not text or text == "" then text = str.try(maybe.get(own, phase .. "_src.value"), 256) end
			found[#found + 1] = phase .. ": " .. (text and text:gsub("^[=@]", "") or "?")
		end
	end
	return found
end

local PASSES = { "proxy", "fastcgi", "uwsgi", "scgi", "grpc", "memcached" }

-- The upstream of a location: the configured URL, else the name of the group.
local function target_of(t, confs, handler)
	local kind = handler and handler:match "^ngx_http_(%l+)_handler$"
	for _, name in ipairs(PASSES) do
		if kind == name then
			local own = conf_of(t, confs, ("ngx_http_%s_module"):format(name), ("ngx_http_%s_loc_conf_t"):format(name))
			if not own then return nil end
			local url = maybe.get(own, "url")
			return url and str.try(url, 256) or str.try(maybe.get(own, "upstream.upstream.host"), 256)
		end
	end
end

-- The conf of the module that passes requests of a location (ngx_http_upstream_conf_t); nil if it passes none.
function conf.pass(t, one)
	local kind = one.handler and one.handler:match "^ngx_http_(%l+)_handler$"
	for _, name in ipairs(PASSES) do
		if kind == name then
			local own = conf_of(t, one.value.loc_conf, ("ngx_http_%s_module"):format(name), ("ngx_http_%s_loc_conf_t"):format(name))
			return own and maybe.get(own, "upstream")
		end
	end
end

-- The Lua module's conf of a location; nil if it runs no Lua.
function conf.lua(t, one)
	return #one.lua > 0 and conf_of(t, one.value.loc_conf, "ngx_http_lua_module", "ngx_http_lua_loc_conf_t") or nil
end

local function modifier(clcf)
	if clcf.named ~= 0 then return "" end
	if clcf.regex then return "~ " end
	return clcf.exact_match ~= 0 and "= " or clcf.noregex ~= 0 and "^~ " or ""
end

-- "~ \.php$", "/api": a location (ngx_http_core_loc_conf_t) as nginx.conf has it; nil if it has no name, as a server's.
function conf.name(clcf)
	local name = str.try(clcf.name, 256)
	return name and modifier(clcf) .. name
end

local function location(t, clcf, depth)
	local handler = func.text(clcf.handler)
	local confs = clcf.loc_conf
	local codes = conf_of(t, confs, "ngx_http_rewrite_module", "ngx_http_rewrite_loc_conf_t")
	return { name = conf.name(clcf) or "?", depth = depth, handler = handler, addr = xcore.addr(clcf),
		target = damage.try(target_of, t, confs, handler), lua = damage.try(lua_of, t, confs) or {}, root = str.try(clcf.root, 256),
		rewrites = codes and codes.codes ~= nil or false, internal = clcf.internal == 1, value = clcf }
end

local add_all

local function add(t, found, clcf, depth)
	if #found >= MOST or depth > DEEPEST then return end
	found[#found + 1] = location(t, clcf, depth)
	add_all(t, found, clcf, depth + 1)
end

-- Prefix locations: the `tree` of a node contains the locations that its name is a prefix of.
local function add_tree(t, found, node, depth, deep)
	if not node or deep > DEEPEST or #found >= MOST then return end
	add_tree(t, found, node.left, depth, deep + 1)
	local exact, inclusive = node.exact, node.inclusive
	if exact then add(t, found, exact, depth) end
	if inclusive and maybe.addr(node, "exact") ~= xcore.addr(inclusive) then add(t, found, inclusive, depth) end
	add_tree(t, found, node.tree, depth, deep + 1)
	add_tree(t, found, node.right, depth, deep + 1)
end

local function add_array(t, found, array, depth)
	for i = 0, array and MOST or -1 do
		local clcf = array[i]
		if not clcf then break end
		add(t, found, clcf, depth)
	end
end

function add_all(t, found, clcf, depth)
	add_tree(t, found, clcf.static_locations, depth, 0)
	add_array(t, found, maybe.get(clcf, "regex_locations"), depth)
end

local function locations_of(t, server)
	local index, found = ctx_index(t, "ngx_http_core_module"), {}
	local top = server.ctx and server.ctx.loc_conf and server.ctx.loc_conf[index]
	if top then add_all(t, found, xcore.deref(xcore.cast(top, "ngx_http_core_loc_conf_t *")), 0) end
	add_array(t, found, server.named_locations, 0)
	return found
end

-- ---- servers ----

local function server(t, value, sockets)
	local at = xcore.addr(value)
	local one = { name = str.try(value.server_name, 256), addr = at, names = sockets.names[at] or {}, listens = sockets.listens[at] or {},
		file = value.file_name and damage.try(xcore.str, value.file_name, 256), line = value.line, value = value }
	one.locations, one.why = damage.try(locations_of, t, value)
	one.file = one.file and one.file:match "[^/]+$"
	return one
end

-- All servers of the http block, in order; nil if there is no http block.
function conf.servers(t, sockets)
	local main = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t")
	if not main then return nil end
	local found = {}
	for _, value in list.array(main.servers, "ngx_http_core_srv_conf_t *") do
		if value then found[#found + 1] = server(t, xcore.deref(value), sockets) end
	end
	return found
end

-- ---- phases ----

-- The engine's rows in the order of execution: {checker, handler, next}.
function conf.phases(t)
	local main = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t")
	local handlers = main and main.phase_engine.handlers
	local found = {}
	for i = 0, handlers and MOST or -1 do
		local row = handlers[i]
		if not row.checker then break end
		found[#found + 1] = { checker = func.name(row.checker), handler = func.text(row.handler), next = row.next,
			addr = maybe.addr(row, "handler") }
	end
	return found, main
end

return conf
