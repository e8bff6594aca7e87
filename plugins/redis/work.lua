-- work.lua: the current command: the activity of the server when it died, or now.
local xcore = require "xcore"
local clients = require "redis.clients"
local fault = require "redis.fault"
local maybe = require "lib.maybe"
local names = require "redis.names"
local object = require "redis.object"
local sds = require "redis.sds"

local work = {}

local MOST_ARGUMENTS = 32
local MOST_FRAMES = 64
local MOST_VALUES = 40

-- The first key among the arguments, at the position in the command table; nil if there is none.
local function first_key(t, client)
	local at = client.cmd and maybe.first(client.cmd, "firstkey", "legacy_range_key_spec.bs.index.pos") or 0
	if at <= 0 or at >= client.argc then return nil end
	return object.quoted(object.text(t, client.argv[at], 256))
end

local function describe(t, client)
	return {
		client = client.id, addr = client.peerid and sds.text(t, xcore.addr(client.peerid), 256),
		name = object.text(t, client.name, 256), db = client.db and client.db.id,
		command = clients.command_name(t, client.cmd), key = first_key(t, client),
		line = object.line(t, client.argv, client.argc, MOST_ARGUMENTS), in_transaction = client.flags & names.CLIENT.MULTI ~= 0,
	}
end

-- The running script or function: its name, the client that runs its commands, and its caller. Before 7.0 the server
-- stores only the callers.
local function script(t)
	local run = t:has_var "curr_run_ctx" and t:var "curr_run_ctx" or nil
	if run then return { name = xcore.str(run.funcname), runs = run.c, caller = run.original_client } end
	local server = t:var "server"
	local caller = maybe.first(server, "script_caller", "lua_caller")
	return caller and { runs = maybe.first(server, "script_client", "lua_client"), caller = caller }
end

local function add_script(t, found)
	local run = script(t)
	if not run then return end
	found.script, found.script_caller = run.name, run.caller and run.caller.id
	if run.runs and run.runs.argc > 0 then
		found.script_command = object.line(t, run.runs.argv, run.runs.argc, MOST_ARGUMENTS)
	end
end

-- The command of the current client: {client, addr, name, db, command, key, line, in_transaction}; for a script, also
-- the command that the script runs. nil if no client is being served; only .why if it is unreadable.
function work.current(t)
	local client = t:var "server".current_client
	if not client then return nil end
	local found, why = fault.try(
		xcore.retry,
		function() return describe(t, t:var "server".current_client or client) end
	)
	if not found then return { why = why } end
	fault.try(add_script, t, found)
	return found
end

-- Texts of the objects, strings and clients in variables of Redis functions.
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

local LOADERS = { rdbLoad = true, loadAppendOnlyFile = true, loadAppendOnlyFiles = true }
local STOPPED = { SIGSTOP = true, SIGTSTP = true, SIGTRAP = true, SIGCONT = true } -- a debugger's core has one of these

-- The stack of the crashed thread: .values, the objects, strings and clients in variables of its frames; .func, the
-- innermost function that serves commands or events. nil if nothing crashed.
function work.stack(t)
	if not t.signal or STOPPED[t.signal.name] then return nil end
	local thread = t:thread()
	local found = { thread = thread.name, values = {} }
	for _, frame in ipairs((thread:frames(MOST_FRAMES))) do
		add_variables(t, frame, frame:args(), found.values)
		add_variables(t, frame, frame:locals(), found.values)
		local name = frame.name or ""
		if not found.func and (name:find "Command$" or name:find "Cron$" or LOADERS[name]) then found.func = name end
	end
	return found
end

return work
