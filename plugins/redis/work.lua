-- work.lua: the command in work: what the server was doing when it died, or does now.
local xcore = require "xcore"
local clients = require "redis.clients"
local fault = require "redis.fault"
local maybe = require "redis.maybe"
local names = require "redis.names"
local object = require "redis.object"
local sds = require "redis.sds"

local work = {}

local MOST_ARGUMENTS = 32
local MOST_FRAMES = 64
local MOST_VALUES = 40

-- The script or function that runs: its name, the client that called it. Before 7.0 server.script_caller has the client.
local function script(t)
	local run = t:has_var "curr_run_ctx" and t:var "curr_run_ctx" or nil
	if run then return xcore.str(run.funcname), maybe.first(run, "original_client", "c") end
	return nil, maybe.first(t:var "server", "script_caller", "lua_caller")
end

local function describe(t, client)
	local flags = client.flags
	return {
		client = client.id, at = xcore.addr(client), addr = client.peerid and sds.text(t, xcore.addr(client.peerid), 256),
		name = object.text(t, client.name, 256), db = client.db and client.db.id,
		command = clients.command_name(t, client.cmd), argc = client.argc,
		line = object.line(t, client.argv, client.argc, MOST_ARGUMENTS), in_transaction = flags & names.CLIENT.MULTI ~= 0,
	}
end

-- The command of the client that is being served; nil when none is. .script and .script_client: the script that runs it.
function work.current(t)
	local client = t:var "server".current_client
	if not client then return nil end
	local found, why = fault.try(describe, t, client)
	if not found then return { why = why } end
	local name, caller = script(t)
	found.script = name
	if caller then found.script_client = caller.id end
	return found
end

-- Texts of what Redis's functions have in hand: objects, strings, clients.
local READERS = {
	robj = function(t, value) return object.quoted(object.text(t, value, 128)) end,
	sds = function(t, value) return object.quoted(sds.text(t, xcore.addr(value), 128)) end,
	client = function(_, value) return ("client %s"):format(xcore.u64(value.id)) end,
	redisDb = function(_, value) return ("db %d"):format(value.id) end,
}
READERS.redisObject = READERS.robj

local function reader_of(type)
	local name = type.name:gsub("^const ", ""):gsub("^struct ", ""):gsub("[ *]+$", "")
	return READERS[name]
end

local function add_variables(t, frame, variables, out)
	for _, variable in ipairs(variables) do
		local read = #out < MOST_VALUES and variable.value ~= nil and type(variable.value) == "userdata" and
			reader_of(variable.type)
		local text = read and fault.try(read, t, variable.value)
		if text and text ~= "(unknown)" then
			out[#out + 1] = { frame = frame.index, func = frame.name, name = variable.name, text = text }
		end
	end
end

-- The stack of the crashed thread (of a living server: its main thread) as Redis's own names see it: .values, the objects, strings
-- and clients in the frames' variables; .function, the innermost function that serves commands or events.
function work.stack(t)
	local thread = t:thread()
	local found = { thread = thread.name, values = {} }
	for _, frame in ipairs((thread:frames(MOST_FRAMES))) do
		add_variables(t, frame, frame:args(), found.values)
		add_variables(t, frame, frame:locals(), found.values)
		local name = frame.name or ""
		if not found["function"] and (name:find "Command$" or name:find "Cron$" or name == "rdbLoad" or name == "loadAppendOnlyFiles") then
			found["function"] = name
		end
	end
	return found
end

return work
