-- phase.lua: the phase of a request, and the handler that has it.
--
-- r->phase_handler is an index into the engine's array, which has the handlers of each phase in sequence:
--
--	phase_engine.handlers[] { checker, handler, next }    phases[PHASE].handlers[]  the same handlers by phase, last one first
--
-- Some checkers serve one phase only and identify it; the others are shared, and the handler's list identifies the
-- phase.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local list = require "nginx.list"
local damage = require "lib.damage"

local phase = {}

-- The order of ngx_http_phases (ngx_http_core_module.h); the enumerators come from debug information if available.
local NAMES = { [0] = "post read", "server rewrite", "find config", "rewrite", "post rewrite", "preaccess", "access", "post access",
	"precontent", "content", "log" }
local BY_CHECKER = {
	ngx_http_core_find_config_phase = "find config", ngx_http_core_post_rewrite_phase = "post rewrite",
	ngx_http_core_access_phase = "access", ngx_http_core_post_access_phase = "post access",
	ngx_http_core_content_phase = "content",
}

-- Names of the states in r->http_state (ngx_http_request.h) that are more specific than "processing".
phase.STATES = { [0] = "initing", "reading", "processing", "connecting upstream", "writing upstream", "reading upstream", "writing",
	"lingering close", "keepalive" }

-- Addresses of handlers to the names of their phases; the first phase for a handler in several, such as realip's,
-- which runs before and after the choice of the location.
local function by_handler(t, conf)
	local found, first = {}, {}
	for i = 0, #conf.phases - 1 do
		for _, handler in list.array(conf.phases[i].handlers, "ngx_http_handler_pt") do
			local at = handler and xcore.addr(handler)
			if at then found[at], first[at] = NAMES[i], first[at] or NAMES[i] end
		end
	end
	return found, first
end

-- The engine: {array, names, rewrite, lua}; nil if there is none.
local function engine_of(t)
	local conf = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t")
	if not conf or not conf.phase_engine.handlers then return nil end
	local names, first = by_handler(t, conf)
	return { handlers = conf.phase_engine.handlers, names = names, first = first,
		server_rewrite = conf.phase_engine.server_rewrite_index, rewrite = conf.phase_engine.location_rewrite_index }
end

function phase.engine(t)
	if phase.kept == nil then phase.kept = damage.try(engine_of, t) or false end
	return phase.kept or nil
end

-- The phase of a row of the engine's array, and its handler; nil for unknown ones.
function phase.row(engine, index)
	local at = engine.handlers[index]
	local checker, handler = func.name(at.checker), at.handler
	local name = BY_CHECKER[checker or ""]
	if not name and checker == "ngx_http_core_rewrite_phase" then
		name = engine.rewrite ~= -1 and index >= engine.rewrite and "rewrite" or "server rewrite"
	end
	local early = engine.server_rewrite ~= -1 and index < engine.server_rewrite
	return name or handler and (early and engine.first or engine.names)[xcore.addr(handler)], handler
end

-- The phase of a request and the name of its handler there; nil for unknown ones.
function phase.of(t, r)
	local engine, index = phase.engine(t), r.phase_handler
	if not engine or index < 0 or index > 10000 then return nil end
	local name, handler = phase.row(engine, index)
	if name == "content" and r.content_handler then handler = r.content_handler end
	return name, func.text(handler)
end

return phase
