-- cycle.lua: the cycle, the root of all nginx data, with its modules and their configuration.
--
--	ngx_cycle → conf_ctx[ngx_http_module.index] → ngx_http_conf_ctx_t { main_conf, srv_conf, loc_conf }[module.ctx_index]
--
-- Variables are found by symbol and typed by name, so types that xcore.cdef declares work like those of debug
-- information.
local xcore = require "xcore"
local layout = require "nginx.layout"
local damage = require "lib.damage"
local vars = require "nginx.vars"

local cycle = {}

local MOST_MODULES = 10000
cycle.PROCESSES = { [0] = "single process", "master", "signaller", "worker", "helper" }
cycle.MASTER, cycle.WORKER = 1, 3

-- The global variable with a name as a value of a type; nil if there is no such symbol.
function cycle.var(t, name, type)
	if not t:has_symbol(name) and t:has_symbol "ngx_cycle" then return nil end
	local at = vars.find(t, layout.declare(t), name)
	return at and t:value(type, at)
end

-- Raises not_found if there is no nginx or its types are unknown.
function cycle.known(t)
	local known, refusal = layout.known(t)
	if known then return end
	if not t:has_symbol "ngx_cycle" then error(xcore.error("not_found", "there is no nginx in this process")) end
	error(refusal, 0)
end

-- The current ngx_cycle_t. Raises not_found if nginx has not created one yet or its types are unknown.
function cycle.of(t)
	cycle.known(t)
	local build = layout.declare(t)
	if build then return t:value("ngx_cycle_t", build.cycle) end
	local found = cycle.var(t, "ngx_cycle", "ngx_cycle_t *")
	if not found then error(xcore.error("not_found", "nginx has no cycle yet: it is starting")) end
	return xcore.deref(found)
end

-- The role of a process: "worker", "master", …; nil if it is unknown.
function cycle.role(t)
	local kind = cycle.var(t, "ngx_process", "ngx_uint_t")
	return kind and (cycle.PROCESSES[kind] or "process of unknown kind " .. xcore.u64(kind)), kind
end

-- nginx switches to another ngx_time_t each second: the target must be read after the pointer, and soon after it.
local function clock(t)
	local time = cycle.var(t, "ngx_cached_time", "ngx_time_t *")
	local now = time and time.sec + time.msec / 1000
	return now and now > 0 and now or nil
end

-- nginx's clock in milliseconds, the base of all its timers, and seconds since 1970 with fraction, as read at the
-- first call; nil if the clock is not set yet.
function cycle.now(t)
	local at = vars.find(t, layout.declare(t), "ngx_cached_time")
	local function pointer() return t:ptr(at) end
	if not cycle.clock then
		local words = at and { pointer } or {}
		local now = damage.try(xcore.retry, function() return clock(t) end, { words = words })
		cycle.clock = { damage.try(cycle.var, t, "ngx_current_msec", "ngx_msec_t") or nil, now or nil }
	end
	return cycle.clock[1], cycle.clock[2]
end

-- Names of modules are constants of the program's file, which a core may lack: symbols also give them.
local function name_of(module)
	return damage.try(xcore.str, module.name, 128) or xcore.symbol(module) or "module " .. xcore.hex(xcore.addr(module))
end

-- Modules in order: {name, index, ctx_index, addr, value}.
function cycle.modules(t)
	local all, of = {}, cycle.of(t)
	local array = of.modules or error(xcore.error("fault", "the cycle has no modules"))
	for i = 0, math.ult(MOST_MODULES, of.modules_n) and MOST_MODULES or of.modules_n - 1 do
		local module = array[i]
		if not module then break end
		all[#all + 1] = { name = name_of(module), index = module.index, ctx_index = module.ctx_index,
			addr = xcore.addr(module), value = module }
	end
	return all
end

-- "ngx_http_lua_module" → ngx_module_t; nil if nginx does not have it. A dynamic module is in a separate file, which
-- may have no symbols: then its name is searched among the cycle's modules.
function cycle.module(t, name)
	local found = cycle.var(t, name, "ngx_module_t")
	if found then return found end
	for _, module in ipairs(cycle.modules(t)) do
		if module.name == name then return xcore.deref(module.value) end
	end
end

-- "1.22.1", from the version that every module was compiled with.
function cycle.version(t)
	local first = cycle.modules(t)[1]
	local number = first and first.value.version
	return number and ("%d.%d.%d"):format(number // 1000000, number // 1000 % 1000, number % 1000)
end

-- The conf of "http" or "stream": ngx_http_conf_ctx_t; nil if there is no such block.
function cycle.block(t, kind)
	local module = cycle.module(t, "ngx_" .. kind .. "_module")
	local contexts = cycle.of(t).conf_ctx
	local found = module and contexts and contexts[module.index]
	return found and xcore.deref(xcore.cast(found, "ngx_" .. kind .. "_conf_ctx_t *"))
end

-- The main configuration of a module of "http" or "stream", as a value of `type`; nil if there is none.
function cycle.main_conf(t, kind, name, type)
	local block, module = cycle.block(t, kind), cycle.module(t, name)
	local conf = block and module and block.main_conf and block.main_conf[module.ctx_index]
	return conf and xcore.deref(xcore.cast(conf, type .. " *"))
end

return cycle
