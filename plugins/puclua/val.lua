-- val, tab: one value, or the entries of a table, by address or in Lua syntax: world.records[3].name.
local xcore = require "xcore"
local commands = require "puclua.commands"
local layout = require "puclua.layout"
local object = require "puclua.object"
local proto = require "puclua.proto"
local tab = require "puclua.tab"
local value = require "puclua.value"

local val = {}

local SHOWN, MOST = 100, 1 << 22

local function usage(text)
	error(
		xcore.error(
			"usage",
			"not a path: " .. text,
			[[as world.records[3]["a b"], _G.x, registry._LOADED, or an address]]
		)
	)
end

-- The keys of a path: "a", 3, "a b". Raises `usage`.
local function keys_of(text)
	local keys, rest = {}, text:find "^[%[.]" and text or "." .. text
	while rest ~= "" do
		local name, behind = rest:match "^%.([%a_][%w_]*)(.*)$"
		if not name then
			local number
			number, behind = rest:match "^%[(%-?[%w.]+)%](.*)$"
			name = number and tonumber(number)
		end
		if not name then name, behind = rest:match '^%["([^"]*)"%](.*)$' end
		if not name then usage(text) end
		keys[#keys + 1], rest = name, behind
	end
	return keys
end

-- The target of a path: the address of its value, or for a root alone (_G, registry) the address of an object.
local function resolve(vm, text)
	local keys, from, at = keys_of(text), nil, nil
	if keys[1] == "registry" then from = tab.registry(vm) else from = tab.globals(vm) end
	if keys[1] == "registry" or keys[1] == "_G" then table.remove(keys, 1) end
	if not from then error(xcore.error("not_found", "the state has no table of globals")) end
	local so_far = ""
	for _, key in ipairs(keys) do
		if at then
			local kind, payload = value.decode(vm, at)
			if kind ~= "table" then
				error(xcore.error("not_found", ("%s is a %s, not a table"):format(so_far, kind)))
			end
			from = payload
		end
		at = tab.get(vm, from, key)
		so_far = so_far .. (type(key) == "string" and "." .. key or "[" .. key .. "]")
		if not at then error(xcore.error("not_found", so_far:gsub("^%.", "") .. " is nil")) end
	end
	return at, from
end

-- The address of an object or of a value.
function val.find(vm, text)
	local addr = math.tointeger(tonumber(text))
	if addr then
		local kind = vm:kind(addr)
		if not vm.layout.names[kind] then error(xcore.error("not_found", xcore.hex(addr) .. " is not a Lua object")) end
		return addr
	end
	local at, root = resolve(vm, text)
	if not at then return root end
	local _, payload, is_object = value.decode(vm, at)
	return is_object and payload or nil, at
end

-- ---- contents of an object ----

local function add_table(vm, section, addr, limit)
	local slots, nodes = tab.parts(vm, addr)
	section:count("array", slots, { label = "slots of the array" })
	section:count("nodes", nodes)
	local metatable = vm.t:value("Table", addr).metatable
	if metatable then section:address("metatable", xcore.addr(metatable)) end
	local rows, shown, all = section:table("entries", {
		{ "key", "text", secret = true }, { "type", "text" }, { "value", "text", secret = true }, { "address", "address" },
	}), 0, 0
	tab.each(vm, addr, MOST, function(key, at)
		all = all + 1
		if all > limit then return end
		local ok, kind, payload, is_object = pcall(value.decode, vm, at)
		local read, text = pcall(value.show, vm, at, 60)
		local named, name = pcall(tab.key, vm, key, 60)
		rows:row(
			named and name or "?",
			ok and kind or "?",
			read and text or "cannot be read",
			ok and is_object and payload or nil
		)
		shown = shown + 1
	end)
	section:count("entries_count", all, { label = "entries" })
	if shown < all then
		section:note(("the first %d of %d entries are shown"):format(shown, all), "--limit N shows more")
	end
end

local function add_function(vm, section, addr)
	local pt, f = value.prototype(vm, addr)
	if not pt then return section:text("code", xcore.symbol(f) or xcore.hex(f)) end
	section:text("file", (value.source(vm, pt)))
	section:integer("first_line", pt.linedefined)
	section:integer("last_line", pt.lastlinedefined)
	local fn = vm.t:value("LClosure", addr)
	if fn.nupvalues == 0 then return end
	local rows =
		section:table("upvalues", { { "name", "text" }, { "type", "text" }, { "value", "text", secret = true } })
	for i = 0, fn.nupvalues - 1 do
		local upvalue = vm.t:ptr(addr + xcore.offsetof("LClosure", "upvals") + i * 8)
		local at = vm.t:ptr(upvalue + vm.layout.uv_v)
		rows:row(proto.upvalue(vm, pt, i) or "#" .. i + 1, (value.decode(vm, at)), value.show(vm, at, 60))
	end
end

local function add_object(vm, section, addr, limit)
	local kind = vm:kind(addr)
	section:text("type", vm.layout.names[kind])
	section:address("address", addr)
	local sizer = object.sizer(vm, kind)
	if not sizer then
		error(xcore.error("fault", ("%s is not an object: its type is %d"):format(xcore.hex(addr), kind)))
	end
	local columns = #sizer.fields > 0 and xcore.gather(sizer.struct, { addr }, sizer.fields) or {}
	section:bytes("size", sizer.of(columns, 1, addr))
	if kind == layout.STRING then
		local text, len = vm:string(addr, 65536)
		section:bytes("length", len)
		section:text("value", text, { secret = true })
	elseif kind == layout.TABLE then
		add_table(vm, section, addr, limit)
	elseif kind == layout.FUNCTION then
		add_function(vm, section, addr)
	else
		section:text("value", value.describe(vm, addr))
	end
end

-- puclua.val ADDR|PATH [--limit N]
function val.val(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" }, 1)
	if not options[1] then
		error(xcore.error("usage", "name an address or a path", "puclua.val TARGET 'world.records[3]'"))
	end
	local addr, at = val.find(vm, options[1])
	local section = report:section("value", "A value of Lua")
	if addr then return add_object(vm, section, addr, options.limit or SHOWN) end
	section:text("type", (value.decode(vm, at)))
	section:text("value", value.show(vm, at), { secret = true })
end

-- puclua.tab ADDR|PATH [--limit N]
function val.tab(t, report, args)
	local vm, options = commands.options(t, args, { limit = "number" }, 1)
	local addr = val.find(vm, options[1] or "_G")
	if not addr or vm:kind(addr) ~= layout.TABLE then
		error(xcore.error("not_found", options[1] .. " is not a table"))
	end
	local section = report:section("table", "A table of Lua")
	section:address("address", addr)
	add_table(vm, section, addr, options.limit or SHOWN)
end

return val
