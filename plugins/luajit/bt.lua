-- bt: the stacks of coroutines as sections of the answer.
local xcore = require "xcore"
local commands = require "luajit.commands"
local coroutines = require "luajit.coroutine"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local variables = require "luajit.variables"

local bt = {}

local COLUMNS = {
	{ "frame", "integer", label = "#" }, { "function", "text" }, { "kind", "text" }, { "file", "text" }, { "line", "integer" },
	{ "called", "text", label = "CALLED AS" }, { "defined", "integer", verbose = true }, { "address", "address", verbose = true },
	{ "pc", "integer", verbose = true, label = "POSITION" },
}

local function usage(what, hint)
	error(xcore.error("usage", what, hint))
end

local function parse(t, args)
	local options, rest, i = { limit = 50 }, {}, 1
	while i <= #args do
		local arg = args[i]
		if arg == "--locals" then
			options.locals = true
		elseif arg == "--limit" then
			options.limit = math.tointeger(tonumber(args[i + 1] or ""))
			if not options.limit or options.limit < 1 then usage "--limit: how many frames of a stack are shown" end
			i = i + 1
		else
			rest[#rest + 1] = arg
		end
		i = i + 1
	end
	local vm
	vm, rest = commands.parse(t, rest)
	if #rest > 1 then usage("one coroutine is wanted, or all", "bt [COROUTINE|all] [--locals] [--limit N]") end
	return vm, rest[1], options
end

-- ---- one stack ----

local VARIABLES = {
	{ "frame", "integer", label = "#" }, { "function", "text" }, { "kind", "text" }, { "name", "text", secret = true },
	{ "value", "text", secret = true },
}

local function add_variables(vm, section, list, shown)
	local rows = section:table("variables", VARIABLES)
	for i, one in ipairs(list) do
		if i > shown then break end
		local title = frame.describe(vm, one, list[i + 1]).title
		local ok, err = pcall(function()
			for _, v in ipairs(variables.of(vm, one, list.top)) do
				rows:row(i - 1, title, v.kind, v.name, v.text or v.why)
			end
		end)
		if not ok then rows:row(i - 1, title, "?", nil, type(err) == "table" and err.message or tostring(err)) end
	end
end

local function add_stack(vm, section, L, options)
	local list, why = coroutines.frames(vm, L)
	local rows = section:table("frames", COLUMNS)
	local shown = math.min(#list, options.limit)
	for i = 1, shown do
		local one = list[i]
		local description = frame.describe(vm, one, list[i + 1])
		rows:row(i - 1, description.title, description.kind, description.file, description.line, description.called,
			description.defined, one.func, one.pos)
	end
	if #list > shown then section:note(("%d more frames"):format(#list - shown), "--limit N shows more") end
	if why then section:warning("the stack ends early: " .. why) end
	if list.top and list.top.note then section:note(list.top.note) end
	if options.locals then add_variables(vm, section, list, shown) end
	return #list
end

local function title_of(vm, L)
	local addr = xcore.addr(L)
	local main = addr == xcore.addr(vm.main)
	return (main and "main thread" or "coroutine") .. " " .. xcore.hex(addr)
end

local function add_coroutine(vm, report, L, index, options)
	local section = report:section(index and "coroutine_" .. index or "bt", title_of(vm, L))
	section:address("address", L, { quiet = true })
	local state = coroutines.state(vm, L)
	section:headline(state .. (state == "running" and ", the VM " .. coroutines.vmstate(vm) or ""))
	section:text("state", state, { quiet = true })
	if xcore.has(L, "exdata") and L.exdata then section:address("exdata", L.exdata) end
	local ok, err = pcall(add_stack, vm, section, L, options)
	if ok then return err end
	if type(err) ~= "table" or err.kind == "limit" then error(err, 0) end
	section:warning("its stack cannot be read: " .. err.message)
end

-- ---- which ----

local function named(vm, text)
	local addr = math.tointeger(tonumber(text))
	if not addr then usage(("no such coroutine: %s"):format(text), "an address, or all") end
	local ok, L = pcall(vm.t.value, vm.t, "lua_State", addr)
	if not ok or vm.t:readable(addr, 16) < 16 or L.gct ~= layout.THREAD or L.glref[vm.layout.mref] ~= vm.addr then
		error(xcore.error("not_found", ("there is no coroutine of this VM at %s"):format(text), "luajit.bt TARGET all shows them"))
	end
	return L
end

function bt.bt(t, report, args)
	local vm, which, options = parse(t, args)
	if which ~= "all" then
		local L = which and named(vm, which) or coroutines.running(vm)
		add_coroutine(vm, report, L, nil, options)
		vm:tell(report:section("bt"))
		return
	end
	local all = coroutines.all(vm)
	table.insert(all, 1, xcore.addr(vm.main))
	for i, addr in ipairs(all) do
		add_coroutine(vm, report, t:value("lua_State", addr), i, options)
		if i == 900 and #all > i then
			report:section("bt", "Coroutines"):note(("%d more coroutines"):format(#all - i), "name one by its address")
			break
		end
	end
	if vm.damages then vm:tell(report:section("bt", "Coroutines")) end
end

return bt
