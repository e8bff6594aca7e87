-- variables: locals, upvalues and extra arguments of a frame, by name.
local xcore = require "xcore"
local proto = require "luajit.proto"
local value = require "luajit.value"

local variables = {}

local MOST = 250 -- maximum number of extra arguments shown

-- A value at an address; values that a trace holds in registers are not in memory.
local function add(vm, top, list, kind, name, at)
	local one = { kind = kind, name = name, at = at }
	local bits = top and top.slots and top.slots[at]
	if type(bits) == "string" then
		one.why = bits
	else
		local ok, text = pcall(value.show, vm, bits or vm.t:u64(at))
		one.bits = bits
		if ok then one.text = text else one.why = type(text) == "table" and text.message or tostring(text) end
	end
	list[#list + 1] = one
end

function variables.locals(vm, one, top)
	local list = {}
	if not one.pt or not one.pos then return list end
	for _, variable in ipairs(proto.locals(vm, one.pt, one.pos)) do
		local kind = variable.slot < one.pt.numparams and "argument" or "local"
		add(vm, top, list, kind, variable.name, one.at + 8 + 8 * variable.slot)
	end
	return list
end

-- Arguments beyond the parameters: below the frame, in the part of the caller that kept them.
function variables.arguments(vm, one, top)
	local list = {}
	if not one.arguments or not one.pt then return list end
	local at = one.arguments + 8 * (1 + one.pt.numparams)
	while at + 8 * vm.layout.fr2 < one.at and #list < MOST do
		add(vm, top, list, "vararg", "..." .. #list + 1, at)
		at = at + 8
	end
	return list
end

function variables.upvalues(vm, one, top)
	local list = {}
	if not one.pt then return list end
	local fn, names = vm.t:value("GCfuncL", one.func), proto.upvalues(vm, one.pt)
	local base = xcore.addr(fn) + xcore.offsetof("GCfuncL", "uvptr")
	for i = 1, fn.nupvalues do
		local at = base + (i - 1) * vm.layout.ref_size
		local ok, slot = pcall(function()
			local upvalue = vm.layout.gc64 and vm.t:u64(at) or vm.t:u32(at)
			return vm.t:value("GCupval", upvalue).v[vm.layout.mref]
		end)
		if ok then
			add(vm, top, list, "upvalue", names[i] or "#" .. i, slot)
		else
			list[#list + 1] = { kind = "upvalue", name = names[i] or "#" .. i, why = "cannot be read" }
		end
	end
	return list
end

-- All of them, in this order.
function variables.of(vm, one, top)
	local list = variables.locals(vm, one, top)
	for _, of in ipairs { variables.arguments, variables.upvalues } do
		table.move(of(vm, one, top), 1, 1000, #list + 1, list)
	end
	return list
end

return variables
