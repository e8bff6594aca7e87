-- luastack.lua: the Lua stacks of requests' coroutines, by the modules of the luajit plugin.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local layout = require "nginx.layout"
local damage = require "lib.damage"

local luastack = {}

local MOST = 200

-- The VM of the Lua module. Without debug information, its address is passed to the luajit plugin.
function luastack.vm(t)
	if not layout.declare(t) then return require("luajit.vm").all(t, "nginx")[1] end
	local conf = cycle.main_conf(t, "http", "ngx_http_lua_module", "ngx_http_lua_main_conf_t")
	return conf and conf.lua and require("luajit.vm").one(t, xcore.addr(conf.lua))
end

-- The modules of the luajit plugin and the VM; nil and the reason if there is none.
local function open(t)
	local vm = luastack.vm(t)
	if not vm then error(xcore.error("not_found", "the Lua module's VM was not found")) end
	return { vm = vm, coroutine = require "luajit.coroutine", frame = require "luajit.frame" }
end

local function opened(t)
	if luastack.kept == nil then
		local found, why = damage.try(open, t)
		luastack.kept, luastack.why = found or false, why
	end
	return luastack.kept or nil, luastack.why
end

local function stack_of(found, addr)
	local L = found.vm.t:value("lua_State", addr)
	local list, why = found.coroutine.frames(found.vm, L)
	local rows = {}
	for i = 1, math.min(#list, MOST) do
		local one = found.frame.describe(found.vm, list[i], list[i + 1])
		rows[i] = { title = one.title, kind = one.kind, file = one.file, line = one.line, called = one.called }
	end
	return { rows = rows, why = why, more = #list - #rows, state = found.coroutine.state(found.vm, L) }
end

-- {rows = {{title, kind, file, line}…}, why, more, state} of a coroutine by the address of its lua_State, innermost
-- frame first; nil and the reason if it is unavailable.
function luastack.of(t, addr)
	local found, why = opened(t)
	if not found then return nil, why end
	return damage.try(stack_of, found, addr)
end

-- "app.lua:12", the innermost Lua line of a stack; nil if there is none. With `short`, only the last part of the
-- path.
function luastack.line(stack, short)
	for _, row in ipairs(stack and stack.rows or {}) do
		if row.file and row.line then return ("%s:%d"):format(short and row.file:match "[^/]*$" or row.file, row.line) end
	end
end

-- "store app.lua:12 < serve app.lua:80 × 5 < …", at most `max` Lua functions; a function that calls itself from one
-- line appears once.
function luastack.brief(stack, max)
	local parts, times = {}, {}
	for _, row in ipairs(stack and stack.rows or {}) do
		if row.file and row.line then
			local text = ("%s %s:%d"):format(row.title or "function", row.file:match "[^/]*$", row.line)
			if parts[#parts] == text then
				times[#parts] = times[#parts] + 1
			elseif #parts < max then
				parts[#parts + 1], times[#times + 1] = text, 1
			end
		end
	end
	for i, count in ipairs(times) do
		if count > 1 then parts[i] = parts[i] .. " × " .. count end
	end
	return #parts > 0 and table.concat(parts, " < ") or nil
end

-- The first value on a coroutine's stack, as text: for one that has not started, the function that it will call. nil
-- if it is unknown.
function luastack.first(t, addr)
	local found = opened(t)
	if not found then return nil end
	return (damage.try(function()
		local L = found.vm.t:value("lua_State", addr)
		return (require("luajit.value").at(found.vm, xcore.addr(L.base), 80):gsub("%S*/", "")) -- the last part of the path
	end))
end

-- The state of the VM: the running coroutine and its activity ("in C", "in trace 3"); nil if nothing runs.
function luastack.running(t)
	local found = opened(t)
	if not found then return nil end
	return damage.try(function()
		local L = found.coroutine.running(found.vm)
		local state = found.coroutine.state(found.vm, L)
		return state == "running" and { co = xcore.addr(L), doing = found.coroutine.vmstate(found.vm) } or nil
	end)
end

return luastack
