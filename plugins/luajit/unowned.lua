-- unowned: memory that the collector's total includes but that is neither an object nor a buffer: blocks in use of
-- LuaJIT's allocator without an owner. A VM that was stopped while running has some: only the active C function knows
-- the block that it is allocating, moving or freeing, on its stack or in a register. Other such blocks were lost, or
-- C code allocated them with lua_getallocf.
local xcore = require "xcore"
local arena = require "luajit.arena"
local machine = require "luajit.machine"
local pieces = require "luajit.pieces"

local unowned = {}

local MOST = 64      -- blocks: no C function uses more
local HEADER = 16    -- bytes from a chunk to its block, the last 8 of which are the next one's
local ROUNDED = 24   -- bytes that a block may have beyond the request: 8, or the rest of a split
local RED_ZONE = 128 -- below the stack pointer
local CFRAME = 256   -- bytes of the VM's frame on the C stack, and more

-- Blocks { lo, hi } in address order; nil if the allocator is not LuaJIT's or there are more than MOST.
local function blocks(vm)
	local self = arena.of(vm)
	if not self then return nil end
	local found, own, list = pieces.of(vm).graph, { [self.addr] = true }, {}
	for _, segment in ipairs(self.segments) do own[segment.record] = true end
	arena.walk(self, function(at, size, in_use)
		local block = at + HEADER
		if not in_use or own[block] or #list > MOST or found:find(block) == block then return end
		list[#list + 1] = { lo = block, hi = block + size - 9 }
	end, function() end) -- luajit.alloc reports damaged chunks
	return #list <= MOST and list or nil
end

-- The stack of the thread that runs the VM, from its innermost frame to the VM's own, and its registers; nil if it is
-- idle.
local function at_work(vm)
	local L = vm.g.cur_L[vm.layout.ref]
	if L == 0 then return nil end
	local cframe = vm.t:value("lua_State", L).cframe
	local at = cframe and xcore.addr(cframe) & ~3 or 0
	if at == 0 then return nil end
	local _, frames = machine.thread(vm, at)
	local sp = frames and frames[1] and frames[1].sp
	return sp and { lo = sp - RED_ZONE, hi = math.max(at, sp) + CFRAME, registers = frames[1]:registers() }
end

local function in_registers(work, block)
	for _, value in pairs(work.registers) do
		if value >= block.lo and value <= block.hi then return true end
	end
end

-- Does a word within [lo, hi] point into a block?
local function points(vm, lo, hi, block)
	return vm.t:find { pointer_to = { block.lo, block.hi }, within = { { lo, hi } }, max = 1 }() ~= nil
end

-- Determines the holder of each block: the running C code, then another such block.
local function ask(vm, list)
	local work = at_work(vm)
	if not work then return end
	for _, block in ipairs(list) do
		if in_registers(work, block) or points(vm, work.lo, work.hi,
			block) then block.known = "the C function that runs" end
	end
	for _ = 1, #list do
		for _, block in ipairs(list) do
			for _, other in ipairs(list) do
				if not block.known and other.known and points(vm, other.lo, other.hi, block) then
					block.known = "the block at " .. xcore.hex(other.lo)
				end
			end
		end
	end
end

-- A new string table is created if there are more strings than slots, or less than a quarter; the old one stays in
-- use until all strings are in the new one (lj_str.c).
local function string_table(vm, bytes)
	local slots = (vm.layout.interned and vm.g.str.mask or vm.g.strmask) + 1
	local strings = vm.layout.interned and vm.g.str.num or vm.g.strnum
	local new = strings >= slots and slots * 2 or strings <= slots // 4 and slots // 2
	return new and bytes == new * vm.layout.ref_size and new
end

-- The excess of the total over objects and buffers. Returns the blocks { lo, hi, known (by whom) } of exactly this
-- size, or nil; and a description if the VM was certainly working on it.
function unowned.explain(vm, bytes)
	local slots = string_table(vm, bytes)
	if slots then return nil, ("a new table of %d strings, which were being moved into it"):format(slots) end
	local list = bytes > 0 and blocks(vm)
	if not list or #list == 0 then return nil end
	local room, all_known = 0, true
	for _, block in ipairs(list) do room = room + block.hi - block.lo + 1 end
	if room < bytes or room - bytes >= ROUNDED * #list then return nil end
	ask(vm, list)
	for _, block in ipairs(list) do all_known = all_known and block.known end
	return list, all_known and "memory that the VM's C code was allocating, moving or freeing" or nil
end

return unowned
