-- pieces: all memory that a VM obtained from its allocator, each piece with its address, kind and size: objects, and
-- the memory that they and the state own. The address of a piece leads to a node of an xcore.graph.
local xcore = require "xcore"
local gc = require "luajit.gc"
local layout = require "luajit.layout"
local object = require "luajit.object"

local pieces = {}

local LARGE = 1 << 16 -- larger pieces are also listed separately

local function wanted(L)
	return {
		[layout.TABLE] = { "array." .. L.mref, "node." .. L.mref, "asize", "hmask", "colo" },
		[layout.THREAD] = { "stack." .. L.mref, "stacksize" },
		[layout.CDATA] = { "marked" },
		[layout.USERDATA] = { "udtype" },
	}
end

local function add(self, addresses, sizes, kind)
	self.graph:nodes(addresses, sizes, kind)
	for i, size in ipairs(sizes) do
		if size >= LARGE then self.large[#self.large + 1] = { addr = addresses[i], size = size, kind = kind } end
	end
end

local function add_one(self, addr, size, kind)
	if addr ~= 0 and size > 0 then add(self, { addr }, { size }, kind) end
end

-- Array parts outside the table's own block, and hash parts.
local function add_parts(self, vm, tables, columns)
	local array, node = columns["array." .. vm.layout.mref], columns["node." .. vm.layout.mref]
	local stride, arrays, array_sizes, nodes, node_sizes = xcore.sizeof "Node", {}, {}, {}, {}
	for i in ipairs(tables) do
		if columns.asize[i] > 0 and columns.colo[i] <= 0 then
			arrays[#arrays + 1], array_sizes[#array_sizes + 1] = array[i], columns.asize[i] * 8
		end
		if columns.hmask[i] > 0 then
			nodes[#nodes + 1], node_sizes[#node_sizes + 1] = node[i], (columns.hmask[i] + 1) * stride
		end
	end
	add(self, arrays, array_sizes, "array part")
	add(self, nodes, node_sizes, "hash part")
end

-- The start of a cdata's block: objects of variable length have a header.
local function cdata_blocks(vm, addresses, columns)
	local VARIABLE, offset = 0x80, xcore.offsetof("GCcdataVar", "offset") - xcore.sizeof "GCcdataVar"
	local blocks = {}
	for i, addr in ipairs(addresses) do
		blocks[i] = columns.marked[i] & VARIABLE == 0 and addr or addr - vm.t:u16(addr + offset)
	end
	return blocks
end

local function add_stacks(self, vm, columns)
	local sizes = {}
	for i, count in ipairs(columns.stacksize) do sizes[i] = count * 8 end
	add(self, columns["stack." .. vm.layout.mref], sizes, "stack")
end

-- Text owned by buffers: the VM's own buffer, and those in userdata.
local function buffer_at(vm, buffer)
	if vm.layout.text_buffers then return vm.t:ptr(xcore.addr(xcore.ref(buffer, "b"))) end
	return buffer.b and xcore.has(buffer.b, vm.layout.mref) and buffer.b[vm.layout.mref]
		or vm.t:ptr(xcore.addr(xcore.ref(buffer, "b")))
end

local function add_buffers(self, vm, userdata, udtypes)
	local BUFFER, COW = 3, 2
	if not vm.layout.text_buffers or not vm.t:has_type "SBufExt" then return end
	for i, addr in ipairs(userdata) do
		local buffer = udtypes[i] == BUFFER and vm.t:value("SBufExt", addr + xcore.sizeof "GCudata")
		if buffer and buffer.L.ptr64 & COW == 0 then
			local first = buffer_at(vm, buffer)
			add_one(self, first, vm.t:ptr(xcore.addr(xcore.ref(buffer, "e"))) - first, "string buffer")
		end
	end
end

local function pointer(v, name)
	local ref = xcore.ref(v, name)
	return xcore.target:ptr(xcore.addr(ref))
end

-- Memory owned by the state, by the keys of gc.buffers.
local function addresses_of_state(vm)
	local g, L = vm.g, vm.layout
	local found = {
		string_table = pointer(L.interned and g.str or g, L.interned and "tab" or "strhash"),
		text_buffer = buffer_at(vm, g.tmpbuf),
		segments = L.segments and g.gc.lightudseg[L.mref] or 0,
	}
	if vm.J then found.trace_table = pointer(vm.J, "trace") end
	if vm.ctypes then found.callbacks = vm.ctypes.cb.cbid and pointer(vm.ctypes.cb, "cbid") or 0 end
	return found
end

local function add_compiler(self, vm)
	local J = vm.J
	if not J then return end
	local entry = xcore.sizeof(xcore.typeof(xcore.deref(J.irbuf)))
	add_one(self, pointer(J, "snapbuf"), J.sizesnap * xcore.sizeof "SnapShot", "JIT compiler's buffers")
	add_one(self, pointer(J, "snapmapbuf"), J.sizesnapmap * xcore.sizeof "SnapEntry", "JIT compiler's buffers")
	add_one(self, pointer(J, "irbuf") + J.irbotlim * entry, (J.irtoplim - J.irbotlim) * entry, "JIT compiler's buffers")
end

local function add_state(self, vm)
	local at = addresses_of_state(vm)
	for _, buffer in ipairs(gc.buffers(vm)) do
		if at[buffer.key] then add_one(self, at[buffer.key], buffer.bytes, buffer.label) end
	end
	pcall(add_compiler, self, vm)
	if vm.ctypes then
		local cts = vm.ctypes
		add_one(self, xcore.addr(cts), xcore.sizeof "CTState", "C types")
		add_one(self, pointer(cts, "tab"), cts.sizetab * xcore.sizeof "CType", "C types")
	end
end

local PARTS = {
	[layout.TABLE] = add_parts,
	[layout.THREAD] = function(self, vm, _, columns) add_stacks(self, vm, columns) end,
	[layout.USERDATA] = function(self, vm, addresses, columns) add_buffers(self, vm, addresses, columns.udtype) end,
}

-- A block's own size: the rest of the object's size is elsewhere.
local function block_size(vm, gct, size, columns, i)
	if gct == layout.TABLE then
		local colocated = columns.colo[i]
		return xcore.sizeof "GCtab" + (colocated ~= 0 and (colocated & 0x7f) * 8 or 0)
	end
	if gct == layout.THREAD then return xcore.sizeof "lua_State" end
	return size
end

local function add_batch(self, vm, gct, addresses, columns)
	local sizes = object.sizes(vm, gct, addresses, columns)
	if gct == layout.TABLE or gct == layout.THREAD then
		for i, size in ipairs(sizes) do sizes[i] = block_size(vm, gct, size, columns, i) end
	end
	local blocks = gct == layout.CDATA and cdata_blocks(vm, addresses, columns) or addresses
	if gct == layout.THREAD then self:add_main(vm, blocks, sizes) end
	add(self, blocks, sizes, layout.NAMES[gct])
	if PARTS[gct] then PARTS[gct](self, vm, addresses, columns) end
end

local Pieces = {}
Pieces.__index = Pieces

-- The main thread is a part of the state.
function Pieces:add_main(vm, blocks, sizes)
	for i, addr in ipairs(blocks) do
		if addr == xcore.addr(vm.main) then
			sizes[i] = xcore.sizeof "GG_State"
			self.main = addr
		end
	end
end

-- All pieces of a VM: { graph =, large = { addr, size, kind } }.
function pieces.of(vm)
	local self = setmetatable({ graph = xcore.graph(), large = {} }, Pieces)
	object.each(
		vm,
		wanted(vm.layout),
		function(gct, addresses, columns) add_batch(self, vm, gct, addresses, columns) end
	)
	add_state(self, vm)
	return self
end

return pieces
