-- still: a running VM as of one moment, or nearly: its memory is read at once, within milliseconds, and queries use
-- this copy. A VM that allocates constantly is still seen in intermediate states: inconsistencies are reported.
local xcore = require "xcore"
local arena = require "luajit.arena"

local still = {}

local MOST, PIECE, PAGE = 240 << 20, 128 << 10, 4096 -- bytes frozen: xcore.snapshot has a limit; at once: the allocator's granularity

local function string_table(vm)
	local owner = vm.layout.interned and vm.g.str or vm.g
	local tab = vm.t:ptr(xcore.addr(xcore.ref(owner, vm.layout.interned and "tab" or "strhash")))
	return tab, ((vm.layout.interned and owner.mask or owner.strmask) + 1) * vm.layout.ref_size
end

-- The current arena. A running VM may have mapped segments since the process was opened: unreadable memory makes
-- xcore.retry read the mappings again.
local function arena_now(vm)
	return xcore.retry(function()
		local self, why = arena.of(vm)
		if not self then error({ kind = "torn", message = why }) end
		for _, segment in ipairs(self.segments) do vm.t:u8(segment.base) end
		vm.t:u8((string_table(vm)))
		return self
	end, { tries = 3 })
end

-- The state of the VM and of its allocator, at one moment: they are adjacent.
local function freeze_state(vm)
	local allocator = vm.t:ptr(xcore.addr(xcore.ref(vm.g, "allocd")))
	local from = math.min(allocator, vm.addr)
	local size = math.max(allocator, vm.addr) + xcore.sizeof(vm.g) + PAGE - from
	if size <= PIECE then xcore.snapshot(from, size) end
end

-- Freezes the heads of lists first (the state, the string table, the segment of the state), then the rest: the target
-- of a head is then newer than the head and was at worst freed; in the other order it could be missing. Separately
-- mapped memory, and memory beyond the limit, is read later, unfrozen.
local function freeze(vm)
	pcall(freeze_state, vm)
	local self, left = arena_now(vm), MOST
	local function take(addr, size)
		if addr == 0 or size > left then return end
		for at = addr, addr + size - 1, PIECE do
			pcall(xcore.snapshot, at, math.min(PIECE, addr + size - at)) -- not pages that were never touched
		end
		left = left - size
	end
	take(string_table(vm))
	local home = arena.segment(self, vm.addr)
	if home then take(home.base, home.size) end
	for _, segment in ipairs(self.segments) do
		if segment ~= home then take(segment.base, segment.size) end
	end
end

-- Freezes the memory of a running process, once.
function still.freeze(vm)
	if not vm.t.live or vm.frozen then return end
	vm.frozen = true
	pcall(freeze, vm)
end

-- Call fn() on frozen memory.
function still.run(vm, fn)
	still.freeze(vm)
	return fn()
end

-- ---- reliability ----

local EXACT = "for exact results use a core or a stopped process (kill -STOP); "
	.. "--max-read-rate 0 --max-read-time 0 reads fastest"

-- Has the VM allocated or freed since its memory was frozen? Drops all cached data: call it last.
function still.has_moved(vm)
	if vm.frozen and vm.moved == nil then
		local before = vm.g.gc.total
		xcore.refresh()
		vm.moved = vm.g.gc.total ~= before
	end
	return vm.moved
end

-- For a VM that ran while all its objects were read: the reliability of the answer. Inconsistencies are not damage
-- there.
function still.tell(vm, section)
	local list = vm.damages or {}
	if not still.has_moved(vm) and #list == 0 then return end
	local first = list[1] and ("; %d%s times it had freed or changed the data before it was read (first: %s)"):format(
		#list, #list < 100 and "" or " or more",
		list[1].what) or ""
	if vm.cut then
		section:warning("the VM ran while it was read, and the list of its objects ended early: much is missing"
			.. first, EXACT)
	else
		section:note("the VM ran while it was read: counts, sums and paths are approximate" .. first, EXACT)
	end
end

return still
