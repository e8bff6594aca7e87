-- bc: the command that shows the bytecode of a function.
local xcore = require "xcore"
local damage = require "lib.damage"
local bytecode = require "puclua.bytecode"
local commands = require "puclua.commands"
local layout = require "puclua.layout"
local proto = require "puclua.proto"
local val = require "puclua.val"
local value = require "puclua.value"

local bc = {}

local SHOWN, NESTED = 1000, 1000

-- The prototype of a function, or one by its own address.
local function prototype(vm, text)
	local addr = val.find(vm, text)
	local kind = addr and vm:kind(addr)
	if kind == vm.layout.proto then return vm.t:value("Proto", addr) end
	local pt = kind == layout.FUNCTION and value.prototype(vm, addr)
	if pt then return pt end
	error(xcore.error("not_found", text .. " is not a Lua function",
		"an address, or as Lua writes it: world.handler; puclua.bt all has those that run"))
end

local function add_nested(section, pt)
	if pt.sizep <= 0 then return end
	local rows =
		section:table("functions", { { "function", "address", label = "FUNCTION IN IT" }, { "line", "integer" } })
	for i = 0, math.min(pt.sizep, NESTED) - 1 do
		local one = pt.p[i]
		if one then rows:row(xcore.addr(one), one.linedefined) end
	end
end

-- puclua.bc FUNCTION
function bc.run(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 1)
	if not parsed[1] then
		error(xcore.error("usage", "which function?", "puclua.bc ADDR, or puclua.bc world.handler"))
	end
	local pt, limit = prototype(vm, parsed[1]), parsed.limit or SHOWN
	local section = report:section("bc", "Bytecode")
	local source = value.source(vm, pt)
	section:headline(("%s:%d"):format(source, pt.linedefined))
	section:text("source", source, { quiet = true })
	section:integer("defined", pt.linedefined, { quiet = true })
	section:address("prototype", xcore.addr(pt))
	section:count("parameters", pt.numparams)
	section:count("upvalues", pt.sizeupvalues)
	section:count("constants", pt.sizek)
	section:count("instructions", pt.sizecode)
	local _, from = bytecode.names(vm)
	section:text("names", from and "of " .. from or nil, { label = "names of instructions" })
	if not from then
		section:note "instruction names are unknown: there is no debug information of Lua and no luaP_opnames"
	end
	local rows = section:table("code", {
		{ "pc", "integer" }, { "line", "integer" }, { "opcode", "text" }, { "operands", "text" }, { "constants", "text", secret = true },
	})
	bytecode.each(vm, pt, limit, function(n, name, op, operands, constants)
		local ok, line = pcall(proto.line, vm, pt, n)
		rows:row(n + 1, ok and line or nil, name or ("%d"):format(op), operands, constants)
	end)
	if pt.sizecode > limit then
		section:note(("the first %d of %d instructions are shown"):format(limit, pt.sizecode), "--limit N shows more")
	end
	damage.part(section, "the functions in it", add_nested, section, pt)
	vm:tell(section)
end

return bc
