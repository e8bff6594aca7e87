-- phase.lua: in which phase a request is, and whose handler has it.
--
-- r->phase_handler is an index into the engine's array, which has each phase's handlers one behind the other:
--
--	phase_engine.handlers[] { checker, handler, next }    phases[PHASE].handlers[]  the same handlers by phase, last one first
--
-- The checkers say which phase it is where they serve one alone; the rest share one, and are told by whose list has the handler.
local xcore = require "xcore"
local cycle = require "nginx.cycle"
local list = require "nginx.list"
local maybe = require "nginx.maybe"

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

-- Handlers' addresses to the names of their phases.
local function by_handler(t, conf)
	local found = {}
	for i = 0, #conf.phases - 1 do
		for _, handler in list.array(conf.phases[i].handlers, "ngx_http_handler_pt") do
			if handler then found[xcore.addr(handler)] = NAMES[i] end
		end
	end
	return found
end

-- The engine: {array, names, rewrite, lua}; nil when there is none.
local function engine_of(t)
	local conf = cycle.main_conf(t, "http", "ngx_http_core_module", "ngx_http_core_main_conf_t")
	if not conf or not conf.phase_engine.handlers then return nil end
	return { handlers = conf.phase_engine.handlers, names = by_handler(t, conf),
		rewrite = conf.phase_engine.location_rewrite_index }
end

function phase.engine(t)
	if phase.kept == nil then phase.kept = maybe.try(engine_of, t) or false end
	return phase.kept or nil
end

-- The phase of a request and the name of its handler there; nil for what is not known.
function phase.of(t, r)
	local engine, index = phase.engine(t), r.phase_handler
	if not engine or index < 0 or index > 10000 then return nil end
	local at = engine.handlers[index]
	local checker, handler = xcore.symbol(at.checker), at.handler
	local name = BY_CHECKER[checker or ""]
	if not name and checker == "ngx_http_core_rewrite_phase" then
		name = engine.rewrite ~= -1 and index >= engine.rewrite and "rewrite" or "server rewrite"
	end
	if name == "content" and r.content_handler then handler = r.content_handler end
	name = name or handler and engine.names[xcore.addr(handler)]
	return name, handler and xcore.symbol(handler)
end

return phase
