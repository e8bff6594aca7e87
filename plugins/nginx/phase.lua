-- phase.lua: in which phase a request is, and whose handler has it.
--
-- r->phase_handler is an index into the engine's array, which has each phase's handlers one behind the other:
--
--	phase_engine.handlers[] { checker, handler, next }    phases[PHASE].handlers[]  the same handlers by phase, last one first
--
-- The checkers say which phase it is where they serve one alone; the rest share one, and are told by whose list has the handler.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local func = require "nginx.func"
local list = require "nginx.list"
local damage = require "lib.damage"

local phase = {}

-- The order of ngx_http_phases (ngx_http_core_module.h); enumerators are asked where debug information has them.
local NAMES = { [0] = "post read", "server rewrite", "find config", "rewrite", "post rewrite", "preaccess", "access", "post access",
	"precontent", "content", "log" }
local BY_CHECKER = {
	ngx_http_core_find_config_phase = "find config", ngx_http_core_post_rewrite_phase = "post rewrite",
	ngx_http_core_access_phase = "access", ngx_http_core_post_access_phase = "post access",
	ngx_http_core_content_phase = "content",
}

-- What the states in r->http_state are called (ngx_http_request.h), where more is known than that it is processed.
phase.STATES = { [0] = "initing", "reading", "processing", "connecting upstream", "writing upstream", "reading upstream", "writing",
	"lingering close", "keepalive" }

-- Handlers' addresses to the names of their phases; the first phase of one that is in several, as realip's, which is before and
-- behind the choice of the location.
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

-- The engine: {array, names, rewrite, lua}; nil when there is none.
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

-- The phase that a row of the engine's array belongs to, and its handler; nil for what is not known.
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

-- The phase of a request and the name of its handler there; nil for what is not known.
function phase.of(t, r)
	local engine, index = phase.engine(t), r.phase_handler
	if not engine or index < 0 or index > 10000 then return nil end
	local name, handler = phase.row(engine, index)
	if name == "content" and r.content_handler then handler = r.content_handler end
	return name, func.text(handler)
end

return phase
