-- gc: the parts of Lua's count of bytes, by type, compared with the count to the byte.
local xcore = require "xcore"
local layout = require "puclua.layout"
local object = require "puclua.object"

local gc = {}

local function counted_upvalues(vm, addresses, columns, seen)
	local _, is_c = object.function_fields(vm)
	local at, t = xcore.offsetof("LClosure", "upvals"), vm.t
	for i, addr in ipairs(addresses) do
		if not is_c(columns, i) and columns.nupvalues[i] > 0 then
			local bytes = t:read(addr + at, columns.nupvalues[i] * 8)
			for from = 1, #bytes, 8 do
				local upvalue = string.unpack("<i8", bytes, from)
				if upvalue ~= 0 then seen[upvalue] = true end
			end
		end
	end
end
gc.counted_upvalues = counted_upvalues

local function count(vm, statistics, kind, addresses, columns)
	local name, of, total = vm.layout.names[kind], object.sizer(vm, kind).of, vm:total()
	local s = statistics[name] or { name = name, count = 0, sum = 0, min = math.huge, max = 0 }
	statistics[name] = s
	local sum, min, max, good = 0, s.min, s.max, #addresses
	for i, addr in ipairs(addresses) do
		local size = of(columns, i, addr)
		if size < 0 or size > total then
			vm:damaged(addr, ("a %s of %d bytes"):format(name, size))
			good = good - 1
		else
			sum = sum + size
			if size < min then min = size end
			if size > max then max = size end
		end
	end
	s.count, s.sum, s.min, s.max = s.count + good, s.sum + sum, min, max
end

-- Statistics by type, in the order of layout.KINDS.
function gc.statistics(vm)
	local by_name, upvalues = {}, {}
	object.each(vm, nil, function(kind, addresses, columns)
		count(vm, by_name, kind, addresses, columns)
		if kind == layout.FUNCTION and vm.layout.counted then counted_upvalues(vm, addresses, columns, upvalues) end
	end)
	local n, size = 0, xcore.sizeof "UpVal"
	for _ in next, upvalues do n = n + 1 end
	if n > 0 then by_name.upvalue = { name = "upvalue", count = n, sum = n * size, min = size, max = size } end
	local list = {}
	for _, name in ipairs(layout.KINDS) do list[#list + 1] = by_name[name] end
	return list
end

-- Name and bytes of memory that Lua counts in addition to the objects.
local function buffers(vm)
	local list = {
		{ "string table", math.max(vm.g.strt.size, 0) * 8 },
		{ "state", xcore.sizeof "LG" - vm.layout.thread_size },
	}
	if xcore.has(vm.g, "buff") then list[3] = { "text buffer", vm.g.buff.buffsize } end
	return list
end

local function add_objects(vm, section)
	local rows, sum = section:table("objects", {
		{ "type", "text" }, { "count", "count" }, { "min", "bytes" }, { "average", "bytes" }, { "max", "bytes" }, { "sum", "bytes" },
	}), 0
	for _, s in ipairs(gc.statistics(vm)) do
		if s.count > 0 then rows:row(s.name, s.count, s.min, s.sum // s.count, s.max, s.sum) end
		sum = sum + s.sum
	end
	return sum
end

function gc.report(vm, section)
	local total = vm:total()
	section:bytes("total", total)
	local sum = add_objects(vm, section)
	local rows = section:table("buffers", { { "buffer", "text" }, { "size", "bytes" } })
	for _, buffer in ipairs(buffers(vm)) do
		if buffer[2] > 0 then rows:row(buffer[1], buffer[2]) end
		sum = sum + buffer[2]
	end
	section:bytes("accounted", sum)
	section:integer("difference", total - sum)
	if sum ~= total then
		section:warning(("objects and buffers are %d bytes %s than Lua counts"):format(math.abs(total - sum), sum < total and "less" or "more"),
			"an object was lost or overwritten, or Lua was running: new memory of a C function is in no list yet")
	end
end

return gc
