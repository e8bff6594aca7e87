-- path: the largest objects, and the shortest path from Lua code to them.
local xcore = require "xcore"
local commands = require "luajit.commands"
local expression = require "luajit.expression"
local graph = require "luajit.graph"
local label = require "luajit.label"
local layout = require "luajit.layout"
local retention = require "lib.retention"
local tvalue = require "luajit.tvalue"
local value = require "luajit.value"

local path = {}

local SHOWN, LONGEST = 20, 160

local KINDS = {}
for gct = layout.STRING, layout.USERDATA do KINDS[layout.NAMES[gct]] = true end

-- The VM and options as commands.options returns them, with a type's name and an address among the other arguments;
-- with `named`, also a path to a value.
function path.options(t, list, known, named)
	local vm, options = commands.options(t, list, known, 2)
	for _, text in ipairs(options) do
		local addr = math.tointeger(tonumber(text))
		if KINDS[text] then
			options.kind = text
		elseif addr then
			options.addr = addr
		elseif named and text:find "^[%a_*]" then
			options.named = text
		else
			local kinds = {}
			for gct = layout.STRING, layout.USERDATA do kinds[#kinds + 1] = layout.NAMES[gct] end
			error(xcore.error("usage", "not an option, a type or an address: " .. text,
				"types are " .. table.concat(kinds, ", ")))
		end
	end
	return vm, options
end

-- A short description of an object.
function path.describe(vm, addr, max)
	local bits = ~vm.t:u8(addr + xcore.offsetof("GChead", "gct"))
	local gct = ~bits
	if gct == layout.PROTO then
		local pt = vm.t:value("GCproto", addr)
		local ok, source = pcall(require("luajit.proto").source, vm, pt)
		return ("prototype of %s:%d"):format(ok and source or "?", pt.firstline)
	end
	if gct == layout.TRACE then return "trace " .. vm.t:value("GCtrace", addr).traceno end
	if gct == layout.UPVALUE or gct > layout.USERDATA or gct < layout.STRING then return layout.NAMES[gct] or "?" end
	local shift = vm.layout.gc64 and 47 or 32
	return value.show(vm, bits << shift | addr, max or 40)
end

local function described(vm, addr)
	local ok, text = pcall(path.describe, vm, addr)
	return ok and text or nil
end

-- ---- the biggest ----

local function add_biggest(vm, g, section, options)
	local limit = options.limit or SHOWN
	local rows = section:table("objects", {
		{ "size", "bytes" }, { "type", "text" }, { "address", "address" }, { "path", "text", secret = true },
	})
	local shown, more = 0, false
	for i, it in ipairs(g:top { by = "size", kind = options.kind, limit = limit + 1 }) do
		if it.size < (options.min or 0) then break end
		if i > limit then more = true break end
		local text = label.path(vm, g, it.addr)
		rows:row(it.size, it.kind, it.addr, text and retention.short(text, LONGEST) or "garbage: no root reaches it")
		shown = shown + 1
	end
	section:bytes("garbage", retention.garbage(g), { label = "no root reaches" })
	if shown == 0 then section:note "no object is that large" end
	if more then
		section:note(("only the %d largest are shown"):format(limit),
			"--limit N shows more; with an address, luajit.path shows one in full")
	end
end

-- ---- one object ----

local function add_holders(vm, g, section, addr)
	retention.holders(section, g, addr, function(holder) return label.of(vm, holder, addr) end, function(holder)
		local text = label.path(vm, g, holder)
		return text and retention.short(text, LONGEST) or "garbage"
	end)
end

local function add_one(vm, g, section, wanted)
	local addr = g:find(wanted)
	if not addr then
		error(xcore.error("not_found", xcore.hex(wanted) .. " is in no object of the VM",
			"luajit.val shows an address of any kind"))
	end
	retention.object(section, g, addr, function(one) return described(vm, one) end, label.path(vm, g, addr))
	add_holders(vm, g, section, addr)
end

-- The object of a path in Lua syntax.
local function address_of(vm, text)
	local tag, addr = tvalue.decode(vm, (expression.eval(vm, text)))
	if tag >= layout.STRING and tag <= layout.USERDATA then return addr end
	error(xcore.error("usage", text .. " is not a separate object: the value is stored in its holder",
		"luajit.val shows it"))
end

-- luajit.path [--min BYTES] [--limit N] [TYPE] [ADDR|PATH]
function path.run(t, report, args)
	local vm, options = path.options(t, args, { min = "number", limit = "number" }, true)
	if options.named then options.addr = address_of(vm, options.named) end
	local g = graph.of(vm)
	if options.addr then
		add_one(vm, g, report:section("path", "Path to an object"), options.addr)
	else
		add_biggest(vm, g, report:section("paths", "Paths to the largest objects"), options)
	end
	graph.tell(vm, report)
end

return path
