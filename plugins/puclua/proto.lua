-- proto: debug data of a compiled function: lines, locals, names of upvalues.
local xcore = require "xcore"

local proto = {}

local MOST = 1 << 20
local ABSOLUTE = -128 -- the line is in abslineinfo

-- 5.4: one-byte differences from the last absolute line.
local function relative_line(vm, pt, pc)
	local base, line = -1, pt.linedefined
	for i = 0, math.min(pt.sizeabslineinfo, MOST) - 1 do
		local absolute = pt.abslineinfo[i]
		if absolute.pc > pc then break end
		base, line = absolute.pc, absolute.line
	end
	local deltas = vm.t:read(xcore.addr(pt.lineinfo) + base + 1, pc - base)
	for i = 1, #deltas do
		local delta = string.unpack("b", deltas, i)
		if delta ~= ABSOLUTE then line = line + delta end
	end
	return line
end

-- The line of an instruction; nil if the function was stripped.
function proto.line(vm, pt, pc)
	if not pt.lineinfo or pc < 0 or pc >= pt.sizelineinfo then return nil end
	if vm.layout.absolute_lines then return relative_line(vm, pt, pc) end
	return pt.lineinfo[pc]
end

local function text_of(vm, s)
	return s and vm:string(xcore.addr(s), 200) or "?"
end

-- Names of the locals that are live at an instruction, by slot, from 1.
function proto.locals(vm, pt, pc)
	local names = {}
	for i = 0, math.min(pt.sizelocvars, MOST) - 1 do
		local var = pt.locvars[i]
		if var.startpc > pc then break end
		if pc < var.endpc then names[#names + 1] = text_of(vm, var.varname) end
	end
	return names
end

-- The name of an upvalue, from 0.
function proto.upvalue(vm, pt, i)
	if not pt.upvalues or i >= pt.sizeupvalues then return nil end
	local one = pt.upvalues[i]
	if not one then return nil end
	return text_of(vm, vm.layout.array_of_calls and one or one.name)
end

return proto
