-- trace: compiled traces: their machine code, start and targets (lj_jit.h, GCtrace).
local xcore = require "xcore"
local layout = require "luajit.layout"
local name = require "luajit.name"
local proto = require "luajit.proto"

local trace = {}

local MOST = 65535

-- A trace by its number; nil if there is none.
function trace.get(vm, number)
	local J = vm.J
	if not J or number < 1 or number >= J.sizetrace then return nil end
	local addr = J.trace[number][vm.layout.ref]
	if addr == 0 or addr == xcore.addr(J, "cur") then return nil end
	local one = vm.t:value("GCtrace", addr)
	if one.gct ~= layout.TRACE then
		vm:damaged(addr, ("trace %d is not a trace"):format(number))
		return nil
	end
	return one
end

-- All numbers and traces, in order.
function trace.all(vm)
	local list = {}
	if not vm.J then return list end
	for number = 1, math.min(vm.J.sizetrace - 1, MOST) do
		local ok, one = pcall(trace.get, vm, number)
		if ok and one then
			list[#list + 1] = { number = number, trace = one }
		elseif not ok then
			vm:damaged(0, ("trace %d cannot be read"):format(number))
		end
	end
	return list
end

-- Machine code of all traces by address: { lo, hi (inclusive), number, trace }.
function trace.ranges(vm)
	if vm.trace_ranges then return vm.trace_ranges end
	local list = {}
	for _, one in ipairs(trace.all(vm)) do
		local code, size = one.trace.mcode, one.trace.szmcode
		local lo = code and xcore.addr(xcore.ref(one.trace, "mcode")) or 0
		lo = code and vm.t:ptr(lo) or 0
		if lo ~= 0 and size > 0 and size < 1 << 28 then
			list[#list + 1] = { lo = lo, hi = lo + size - 1, number = one.number, trace = one.trace }
		end
	end
	table.sort(list, function(a, b) return a.lo < b.lo end)
	vm.trace_ranges = list
	return list
end

-- The range of a list, sorted by address, that contains an address; or nil.
function trace.find(list, addr)
	local lo, hi = 1, #list
	while lo <= hi do
		local mid = (lo + hi) // 2
		local one = list[mid]
		if addr < one.lo then
			hi = mid - 1
		elseif addr > one.hi then
			lo = mid + 1
		else
			return one
		end
	end
end

-- The range that contains an address, or nil.
function trace.at(vm, addr)
	return trace.find(trace.ranges(vm), addr)
end

-- Its start: file and line, as text; and the parts.
function trace.start(vm, one)
	local addr = one.startpt[vm.layout.ref]
	if addr == 0 then return "?" end
	local pt = vm.t:value("GCproto", addr)
	local pos = proto.position(pt, one.startpc[vm.layout.mref])
	return name.place(vm, pt, pos), (proto.source(vm, pt)), pos and proto.line(vm, pt, pos) or pt.firstline
end

-- The number of the exit with a stub at an address: on x86 all traces share the stubs, 32 per group, 4 bytes each
-- (lj_target_x86.h).
local GROUP, STUB = 32, 4

function trace.exit_at(vm, target)
	if vm.t.arch ~= "x86-64" or not xcore.has(vm.J, "exitstubgroup") then return nil end
	for i = 0, #vm.J.exitstubgroup - 1 do
		local group = vm.t:ptr(xcore.addr(vm.J.exitstubgroup) + 8 * i)
		local offset = target - group
		if group ~= 0 and offset >= 0 and offset < GROUP * STUB and offset % STUB == 0 then
			return i * GROUP + offset // STUB
		end
	end
end

return trace
