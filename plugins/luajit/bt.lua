-- bt: the stacks of coroutines as sections of the answer.
local xcore = require "xcore"
local damage = require "lib.damage"
local commands = require "luajit.commands"
local coroutines = require "luajit.coroutine"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local variables = require "luajit.variables"

local bt = {}

local MOST = 200000  -- frames compared to find equal stacks
local SECTIONS = 900 -- maximum number of stacks shown

local COLUMNS = {
	{ "frame", "integer", label = "#" }, { "function", "text" }, { "kind", "text" }, { "file", "text" }, { "line", "integer" },
	{ "called", "text", label = "CALLED AS" }, { "defined", "integer", verbose = true }, { "address", "address", verbose = true },
	{ "pc", "integer", verbose = true, label = "POSITION" },
}

local function usage(what, hint)
	error(xcore.error("usage", what, hint))
end

local function parse(t, args)
	local vm, options = commands.options(t, args, { locals = "flag", each = "flag", limit = "number" }, 1)
	options.limit = options.limit or 50
	if options.limit < 1 then usage "--limit is the number of frames to show per stack" end
	return vm, options[1], options
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

local function add_stack(vm, section, list, why, options)
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
end

local function title_of(vm, L)
	local addr = xcore.addr(L)
	local main = addr == xcore.addr(vm.main)
	return (main and "main thread" or "coroutine") .. " " .. xcore.hex(addr)
end

-- A section about a coroutine, or about `group`: several coroutines with the same stack.
local function add_coroutine(vm, report, L, key, options, group)
	local section = report:section(
		key,
		group and #group > 1 and ("%d coroutines like %s"):format(#group, xcore.hex(xcore.addr(L))) or title_of(vm, L)
	)
	section:address("address", L, { quiet = true })
	local state = coroutines.state(vm, L)
	section:headline(state .. (state == "running" and ", the VM " .. coroutines.vmstate(vm) or ""))
	section:text("state", state, { quiet = true })
	if group then section:count("alike", #group, { quiet = true }) end
	if xcore.has(L, "exdata") and L.exdata then section:address("exdata", L.exdata) end
	local ok, err = pcall(function()
		local list, why = coroutines.frames(vm, L)
		add_stack(vm, section, list, why, options)
	end)
	if not ok then section:warning("its stack cannot be read: " .. damage.message(err)) end
	if group and #group > 1 then
		local others = {}
		for i = 2, math.min(#group, 11) do others[i - 1] = xcore.hex(group[i]) end
		section:text("others", table.concat(others, " ") .. (#group > 11 and " ..." or ""))
	end
end

-- ---- which ----

local function named(vm, text)
	local addr = math.tointeger(tonumber(text))
	if not addr then usage(("no such coroutine: %s"):format(text), "an address, or all") end
	local ok, L = pcall(vm.t.value, vm.t, "lua_State", addr)
	if not ok or vm.t:readable(addr, 16) < 16 or L.gct ~= layout.THREAD or L.glref[vm.layout.mref] ~= vm.addr then
		error(
			xcore.error(
				"not_found",
				("there is no coroutine of this VM at %s"):format(text),
				"luajit.bt TARGET all shows them"
			)
		)
	end
	return L
end

-- The signature of a stack: equal ones form one group.
local function signature(vm, L)
	local ok, list = pcall(coroutines.frames, vm, L)
	if not ok then
		return xcore.hex(xcore.addr(L)), 0
	end
	local parts = { coroutines.state(vm, L) }
	for i, one in ipairs(list) do
		parts[i + 1] = (one.pt and xcore.addr(one.pt) or one.func) .. ":" .. (one.pos or "")
	end
	return table.concat(parts, " "), #list
end

local RANK = { running = 1, normal = 2, failed = 3, suspended = 4, new = 5, finished = 6 }

-- The running one first, then the most frequent ones.
local function sort(vm, groups)
	for i, group in ipairs(groups) do
		local ok, state = pcall(function() return coroutines.state(vm, vm.t:value("lua_State", group[1])) end)
		group.rank, group.order = ok and RANK[state] or 3, i
	end
	table.sort(groups, function(a, b)
		if a.rank ~= b.rank then return a.rank < b.rank end
		if #a ~= #b then return #a > #b end
		return a.order < b.order
	end)
end

-- The main thread is alone in its group. `each`: every coroutine is.
local function groups_of(vm, each)
	local list, by, frames = { { xcore.addr(vm.main) } }, {}, 0
	for _, addr in ipairs(coroutines.all(vm)) do
		local key, count = addr, 0
		if not each and frames < MOST then key, count = signature(vm, vm.t:value("lua_State", addr)) end
		frames = frames + count
		if not by[key] then
			by[key] = {}
			list[#list + 1] = by[key]
		end
		table.insert(by[key], addr)
	end
	sort(vm, list)
	return list
end

local function try(fn, ...)
	local ok, result = pcall(fn, ...)
	return ok and result or { false }
end

function bt.bt(t, report, args)
	local vm, which, options = parse(t, args)
	if which ~= "all" then
		local L = which and named(vm, which) or coroutines.running(vm)
		add_coroutine(vm, report, L, "bt", options)
		if not which and #try(coroutines.frames, vm, L) == 0 then
			report:section("bt"):note("no Lua code runs", "luajit.bt TARGET all shows the suspended coroutines")
		end
		vm:tell(report:section("bt"))
		return
	end
	local groups = groups_of(vm, options.each or options.locals)
	for i, group in ipairs(groups) do
		if i > SECTIONS then
			report
				:section("bt", "Coroutines")
				:note(("%d more stacks"):format(#groups - SECTIONS), "name a coroutine by its address")
			break
		end
		add_coroutine(vm, report, t:value("lua_State", group[1]), "coroutine_" .. i, options, group)
	end
	if vm.damages then vm:tell(report:section("bt", "Coroutines")) end
end

return bt
