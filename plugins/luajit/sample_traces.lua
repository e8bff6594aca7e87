-- sample_traces: the compiled traces of a VM during a profile, by their machine code. New ones come and old ones are
-- freed meanwhile.
local xcore = require "xcore"
local frame = require "luajit.frame"
local inlining = require "luajit.inlining"
local snapshot = require "luajit.snapshot"
local stacks = require "luajit.stacks"
local trace = require "luajit.trace"

local traces = {}

local unpack = string.unpack
local ASSUMED = 1 << 32 -- an address that stands for the base of a trace

local function sort_ranges(kept)
	kept.ranges = {}
	for _, one in pairs(kept.traces) do kept.ranges[#kept.ranges + 1] = one end
	table.sort(kept.ranges, function(a, b) return a.lo < b.lo end)
end

-- Reads the traces that are new. True: there are some.
function traces.renew(self, kept)
	local vm, at, t = kept.vm, self.offsets, self.t
	local J = kept.J
	if not J then return false end
	local count, array = t:u32(J + at.trace_count), t:u64(J + at.traces)
	if count < 2 or count > 65536 then return false end
	local bytes, new = t:read(array, count * 8), false
	for number = 1, count - 1 do
		local addr = unpack("<i8", bytes, 8 * number + 1)
		local old = kept.traces[number]
		if addr ~= 0 and (not old or old.addr ~= addr) then
			local ok, one = pcall(trace.get, vm, number)
			local lo = ok and one and t:u64(addr + at.mcode) or 0
			local size = lo ~= 0 and t:u32(addr + at.szmcode) or 0
			if size > 0 and size < 1 << 24 then
				kept.traces[number] = {
					number = number,
					addr = addr,
					trace = one,
					lo = lo,
					hi = lo + size - 1,
					startpc = t:u64(addr + at.startpc),
				}
				stacks.tell_trace(vm, self.told, kept.traces[number])
				new = true
			end
		end
	end
	if new then sort_ranges(kept) end
	return new
end

-- Is it still there?
local function is_same(self, kept, one)
	local at, t = self.offsets, self.t
	local array = t:u64(kept.J + at.traces)
	if t:u64(array + 8 * one.number) == one.addr and t:u64(one.addr + at.mcode) == one.lo and t:u64(one.addr + at.startpc) == one.startpc then
		return true
	end
	kept.traces[one.number] = nil
	kept.inside = {}
	sort_ranges(kept)
	return false
end

-- The trace at an address, of this VM or, if none is given, of any.
function traces.at(self, kept, addr)
	for _ = 1, 2 do
		local one = trace.find(kept.ranges, addr)
		if one and is_same(self, kept, one) then return one end
		if not traces.renew(self, kept) then return nil end
	end
end

-- Frames as words of a stack have them: { { func, pc }, … }, innermost first.
local function frames_of(vm, slots, base, pc)
	local all = {}
	for _, each in ipairs(frame.inlined(vm, slots, base - 8, ASSUMED - 8, true)) do
		all[#all + 1] = { func = each.func, pc = pc }
		pc = each.link
	end
	return all
end

-- The position at a place of a trace's code: from the last snapshot and, where that is proved, what follows it.
local function position(vm, one, addr)
	local number = snapshot.at(vm, one.trace, addr - one.lo)
	local snap = snapshot.read(vm, one.trace, number)
	local slots, inner = snapshot.slots(vm, one.trace, snap, ASSUMED)
	local top = {
		base = inner,
		pc = snap.pc + 4,
		slots = slots,
		trace = one.trace,
		snapshot = snap,
		compiled_from = ASSUMED - 8,
	}
	local found = inlining.find(vm, one.trace, number, top, nil, one.lo, addr)
	local ok, list = pcall(frames_of, vm, found and found.slots, found and found.base, found and found.pc)
	if ok and #list > 0 then return list end
	return frames_of(vm, slots, inner, snap.pc + 4)
end

-- The frames that a trace has inlined at a place of its code, and the position in its own, which is the last: the same
-- for every base. It takes some milliseconds to find, once.
function traces.inside(kept, one, addr)
	local found = kept.inside[addr]
	if found then return found end
	local ok, list = pcall(position, kept.vm, one, addr)
	found = ok and #list > 0 and list or { { pc = one.startpc + 4 } }
	kept.inside[addr] = found
	return found
end

return traces
