-- TValue: the meaning of the 64 bits of a Lua value (lj_obj.h).
--
--	LJ_GC64      63        47                        0
--	             | ~tag    | payload                 |    a double is what has no tag
--	otherwise    63              32                  0
--	             | ~tag          | payload           |    light user data reach from 0xffff0000… to 0xffff7fff…
local xcore = require "xcore"
local layout = require "luajit.layout"

local tvalue = {}

local POINTER, LOW = (1 << 47) - 1, (1 << 39) - 1
local NUMX = -14

-- The tag's number (layout.NAMES), and the payload: an address, an integer, or nil.
function tvalue.decode(vm, bits)
	if vm.layout.gc64 then
		local tag = bits >> 47
		tag = tag >= 0x10000 and tag - 0x20000 or tag
		if tag < NUMX or tag >= 0 then return 13, string.unpack("<d", string.pack("<i8", bits)) end
		if tag == NUMX then return 13, (bits & 0xffffffff ~ 0x80000000) - 0x80000000 end
		if tag == -4 then return 3, tvalue.light(vm, bits & POINTER) end
		return ~tag, bits & POINTER
	end
	local high = bits >> 32
	if high < 0xfffeffff then return 13, string.unpack("<d", string.pack("<i8", bits)) end
	if high == 0xfffffff2 then return 13, (bits & 0xffffffff ~ 0x80000000) - 0x80000000 end
	if high >= 0xffff0000 and high < 0xffff8000 then return 3, bits & POINTER end
	return ~high & 0xf, bits & 0xffffffff
end

-- The pointer of a light userdatum. With segments, its upper half is in a table, and the index into that table is in
-- the value.
function tvalue.light(vm, payload)
	if not vm.layout.segments then return payload end
	local segments = vm.g.gc.lightudseg[vm.layout.mref]
	if segments == 0 then return payload end
	return vm.t:u32(segments + (payload >> 39) * 4) << 32 | payload & LOW
end

-- The 64 bits of a value with this tag: of an object at an address, or of nil, false and true.
function tvalue.encode(vm, tag, addr)
	if vm.layout.gc64 then return tag == 0 and -1 or ~tag << 47 | (addr or POINTER) end
	return (~tag & 0xffffffff) << 32 | (addr or 0xffffffff)
end

-- The value for an object at an address.
function tvalue.of_object(vm, addr)
	return tvalue.encode(vm, vm.t:u8(addr + xcore.offsetof("GChead", "gct")), addr)
end

-- For xcore.graph's scan: the words of an array of values that are references, and their targets.
function tvalue.scan(vm)
	if vm.layout.gc64 then return { width = 8, mask = POINTER, tag = { shift = 47, lo = -13, hi = -5 } } end
	return { width = 8, mask = 0xffffffff, tag = { shift = 32, lo = -13, hi = -5 } }
end

tvalue.name = layout.NAMES
return tvalue
