-- still: a running VM looked at as it was at one moment, or nearly: its memory is read at once, in some milliseconds, and what is asked
-- is asked of that. A VM that allocates all the time is still seen half-way through something: what does not fit is told.
local xcore = require "xcore"
local arena = require "luajit.arena"

local still = {}

local MOST, PIECE, PAGE = 240 << 20, 128 << 10, 4096 -- bytes frozen: xcore.snapshot has a limit; at once: the allocator's granularity

local function string_table(vm)
	local owner = vm.layout.interned and vm.g.str or vm.g
	local tab = vm.t:ptr(xcore.addr(xcore.ref(owner, vm.layout.interned and "tab" or "strhash")))
	return tab, ((vm.layout.interned and owner.mask or owner.strmask) + 1) * vm.layout.ref_size
end

-- The arena as it is now. A VM at work has mapped segments since the process was opened: what cannot be read makes xcore.retry look at
-- the mappings anew.
local function arena_now(vm)
	return xcore.retry(function()
		local self, why = arena.of(vm)
		if not self then error({ kind = "torn", message = why }) end
		for _, segment in ipairs(self.segments) do vm.t:u8(segment.base) end
		vm.t:u8((string_table(vm)))
		return self
	end, { tries = 3 })
end

-- The state of the VM and of its allocator, at one moment: they lie beside each other.
local function freeze_state(vm)
	local allocator = vm.t:ptr(xcore.addr(xcore.ref(vm.g, "allocd")))
	local from = math.min(allocator, vm.addr)
	local size = math.max(allocator, vm.addr) + xcore.sizeof(vm.g) + PAGE - from
	if size <= PIECE then xcore.snapshot(from, size) end
end

-- Freeze the heads of lists first (the state, the table of strings, the segment that has the state), then the rest: what a head leads to is then
-- older than what it lies in, and was freed at worst; the other way round it would not be there yet. What is mapped alone, or is more
-- than can be frozen, is read as it is later.
local function freeze(vm)
	pcall(freeze_state, vm)
	local self, left = arena_now(vm), MOST
	local function take(addr, size)
		if addr == 0 or size > left then return end
		for at = addr, addr + size - 1, PIECE do
			pcall(xcore.snapshot, at, math.min(PIECE, addr + size - at)) -- not what was never touched
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

-- Freeze the memory of a running process, once.
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

-- ---- what it is worth ----

local EXACT = "for exact results use a core or a stopped process (kill -STOP); --max-read-rate 0 --max-read-time 0 reads fastest"

-- Has the VM allocated or freed since its memory was frozen? Forgets all that was read: to be asked last.
function still.has_moved(vm)
	if vm.frozen and vm.moved == nil then
		local before = vm.g.gc.total
		xcore.refresh()
		vm.moved = vm.g.gc.total ~= before
	end
	return vm.moved
end

-- Of a VM that ran while all its objects were read: how far the answer can be trusted. What does not fit is no damage there.
function still.tell(vm, section)
	local list = vm.damages or {}
	if not still.has_moved(vm) and #list == 0 then return end
	local first = list[1] and ("; %d%s times it had freed or changed the data before it was read (first: %s)"):format(#list, #list < 100 and "" or " or more",
		list[1].what) or ""
	if vm.cut then
		section:warning("the VM ran while it was read, and the list of its objects ended early: much is missing"
			.. first, EXACT)
	else
		section:note("the VM ran while it was read: counts, sums and paths are approximate" .. first, EXACT)
	end
end

return still
