-- gc: the parts of the collector's total, by type, compared with g.gc.total to the byte.
local xcore = require "xcore"
local layout = require "luajit.layout"
local object = require "luajit.object"
local still = require "luajit.still"

local gc = {}

gc.STATES = { [0] = "pause", "propagate", "atomic", "sweep strings", "sweep", "finalize" }

-- ---- memory other than objects ----

local function buffer_size(vm, buffer)
	if vm.layout.text_buffers then
		local b = xcore.addr(xcore.ref(buffer, "b"))
		return (vm.t:ptr(xcore.addr(buffer, "e")) - vm.t:ptr(b))
	end
	if xcore.has(buffer, "sz") then return buffer.sz end
	return buffer.e[vm.layout.mref] - buffer.b[vm.layout.mref]
end

-- The table of segments of light userdata doubles when it is full.
local function segments_size(vm)
	local state = vm.g.gc
	if not vm.layout.segments or state.lightudseg[vm.layout.mref] == 0 then return 0 end
	local room = 2
	while room <= state.lightudnum do room = room * 2 end
	return room * 4
end

local function jit_size(vm)
	local J = vm.J
	local entries = xcore.sizeof(J.irbuf and xcore.typeof(xcore.deref(J.irbuf)) or "IRIns")
	return J.sizesnap * xcore.sizeof "SnapShot" + J.sizesnapmap * xcore.sizeof "SnapEntry"
		+ (J.irtoplim - J.irbotlim) * entries, J.sizetrace * vm.layout.ref_size
end

local function mask_of(vm)
	return vm.layout.interned and vm.g.str.mask or vm.g.strmask
end

-- Name and bytes of each buffer that g.gc.total counts in addition to the objects.
function gc.buffers(vm)
	local list = {}
	local function add(key, label, bytes)
		list[#list + 1] = { key = key, label = label, bytes = bytes }
	end
	add("string_table", "string table", (mask_of(vm) + 1) * vm.layout.ref_size)
	add("text_buffer", "text buffer", buffer_size(vm, vm.g.tmpbuf))
	add("state", "state", xcore.sizeof "GG_State" - xcore.sizeof "lua_State")
	add("segments", "segments of light userdata", segments_size(vm))
	if vm.J then
		local buffers, traces = jit_size(vm)
		add("jit_buffers", "JIT compiler's buffers", buffers)
		add("trace_table", "table of traces", traces)
	end
	if vm.ctypes then
		local cts = vm.ctypes
		add("ctypes", "C types", xcore.sizeof "CTState" + cts.sizetab * xcore.sizeof "CType")
		add("callbacks", "C callbacks", cts.cb.cbid and cts.cb.sizeid * 2 or 0)
	end
	return list
end

-- ---- objects ----

local function no_statistic(gct)
	return { gct = gct, name = layout.NAMES[gct], count = 0, sum = 0, min = math.huge, max = 0 }
end

-- An object larger than all of the collector's memory is not an object: it was freed or overwritten.
local function count(vm, by_type, gct, sizes, counts, firsts)
	local statistic = by_type[gct] or no_statistic(gct)
	by_type[gct] = statistic
	local sum, counted, min, max, total = 0, 0, statistic.min, statistic.max, vm.g.gc.total
	for i, size in ipairs(sizes) do
		local objects = counts[i]
		if size < 0 or size > total then
			vm:damaged(firsts[i], ("a %s of %d bytes"):format(statistic.name, size))
		else
			sum, counted = sum + size * objects, counted + objects
			if size < min then min = size end
			if size > max then max = size end
		end
	end
	statistic.count, statistic.sum = statistic.count + counted, statistic.sum + sum
	statistic.min, statistic.max = min, max
end

-- Buffers of string.buffer objects: memory that they own outside the object.
local function owned_by_buffers(vm, addresses)
	local UDTYPE_BUFFER, sum = 3, 0
	if not vm.layout.text_buffers or not vm.t:has_type "SBufExt" then return 0 end
	local udtypes = xcore.gather("GCudata", addresses, { "udtype" }, { partial = true }).udtype
	for i, addr in ipairs(addresses) do
		if udtypes[i] == UDTYPE_BUFFER then
			local buffer = vm.t:value("SBufExt", addr + xcore.sizeof "GCudata")
			local COW = 2
			if buffer.L.ptr64 & COW == 0 then sum = sum + buffer_size(vm, buffer) end
		end
	end
	return sum
end

-- Statistics by type, in numeric order, and bytes of string buffers.
function gc.statistics(vm)
	local by_type, owned = {}, 0
	object.tally(vm, function(gct, sizes, counts, firsts, addresses)
		count(vm, by_type, gct, sizes, counts, firsts)
		if gct == layout.USERDATA then owned = owned + owned_by_buffers(vm, addresses) end
	end)
	local list = {}
	for gct = layout.STRING, layout.USERDATA do
		if by_type[gct] then list[#list + 1] = by_type[gct] end
	end
	return list, owned
end

-- ---- the report ----

local function add_objects(section, list)
	local rows = section:table("objects", {
		{ "type", "text" }, { "count", "count" }, { "min", "bytes" }, { "average", "bytes" }, { "max", "bytes" }, { "sum", "bytes" },
	})
	local sum = 0
	for _, s in ipairs(list) do
		if s.count > 0 then rows:row(s.name, s.count, s.min, s.sum // s.count, s.max, s.sum) end
		sum = sum + s.sum
	end
	return sum
end

local function add_buffers(section, list, owned)
	if owned > 0 then list[#list + 1] = { label = "string buffers", bytes = owned } end
	local rows, sum = section:table("buffers", { { "buffer", "text" }, { "size", "bytes" } }), 0
	for _, buffer in ipairs(list) do
		if buffer.bytes > 0 then rows:row(buffer.label, buffer.bytes) end
		sum = sum + buffer.bytes
	end
	return sum
end

local NEARLY = 0.02 -- share of the total: a larger difference cannot come from changes during the read

-- For a running VM: it may have freed or changed data before it was read.
local function tell_share(section, sum, total)
	local share = sum / math.max(total, 1)
	local text = ("%.1f%% of g.gc.total was found"):format(share * 100)
	if math.abs(1 - share) <= NEARLY then return section:note(text) end
	section:warning(text .. ": the VM changes faster than it can be read",
		"the table is a sample: its shares are more reliable than its counts")
end

function gc.report(vm, section)
	local list, owned = still.run(vm, function() return gc.statistics(vm) end)
	local state = vm.g.gc
	section:bytes("total", state.total)
	section:bytes("threshold", state.threshold)
	section:text("phase", gc.STATES[state.state] or ("unknown: " .. state.state))
	local sum = add_objects(section, list) + add_buffers(section, gc.buffers(vm), owned)
	section:bytes("accounted", sum)
	section:integer("difference", state.total - sum)
	if sum ~= state.total and vm.t.live then
		tell_share(section, sum, state.total)
	elseif sum ~= state.total then
		section:warning(("objects and buffers are %d bytes %s than g.gc.total"):format(math.abs(state.total - sum),
			sum < state.total and "less" or "more"),
			"an object was lost or overwritten, or the VM was running; luajit.check shows more")
	end
	if vm.J then section:bytes("machine_code", vm.J.szallmcarea, { label = "machine code (not in total)" }) end
	return state.total - sum
end

return gc
