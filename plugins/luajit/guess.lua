-- Determines the build of LuaJIT in a program without debug information: from memory, one question at a time, with
-- proofs.
--
-- A main thread is recognised by its form in either width, and by its state's pointer back to it. From there, sizes
-- are measured (the state is after the thread, the dispatch table after the JIT compiler's state), and each candidate
-- declaration (cdef.lua) is tested against facts that hold for a working VM. The declaration that passes is used. No
-- version is read: LuaJIT has none that determines the layout.
local xcore = require "xcore"
local cdef = require "luajit.cdef"

local guess = {}

local STRING, UPVALUE, THREAD, TRACE, TABLE, USERDATA = 4, 5, 6, 9, 11, 12
local METAMETHODS = 22 -- unchanged in all known versions
local MAX_TRACES, MAX_CANDIDATES, CODE_SCAN = 65536, 64, 16384
local MAX_FAILURES = 3 -- this many failures disprove a state

-- ---- main threads ----

local function width(t, gc64)
	return { gc64 = gc64, x86 = t.arch == "x86-64" or t.arch == "i386", pointer_size = t.pointer_size, extra = 0,
		interned = true,
		text_buffers = true, gcroots = 38 }
end

-- Threads that the collector never frees, followed directly by their state, as lj_state.c lays them out. Calls fn
-- until it returns true.
local function main_threads(t, gc64, fn)
	local D = xcore.cdef(cdef.thread(width(t, gc64)), { private = true })
	local type = D:type "lua_State"
	local size, marked, mref = xcore.sizeof(type), xcore.offsetof(type, "marked"), gc64 and "ptr64" or "ptr32"
	local looks =
		{ gct = THREAD, dummy_ffid = 1, ["glref." .. mref] = { 0x1000, gc64 and (1 << 47) - 1 or 0xffffffff } }
	local count = 0
	for addr in t:find { signature = { type, looks }, writable = true } do
		local thread = t:value(type, addr)
		local behind = thread.glref[mref] - addr - size
		if t:u8(addr + marked) & 0x60 ~= 0 and behind >= 0 and behind <= 32 and behind & 7 == 0 then
			count = count + 1
			local candidate =
				{ addr = addr, g = addr + size + behind, gc64 = gc64, mref = mref, gap = behind, thread = thread }
			if fn(candidate) or count == MAX_CANDIDATES then return end
		end
	end
end

-- ---- the state ----

-- Tags of values and the types that they point to.
local function points_to(t, bits, gc64, tag)
	if gc64 then return bits >> 47 == ~tag & 0x1ffff and bits & (1 << 47) - 1 end
	return bits >> 32 == ~tag & 0xffffffff and bits & 0xffffffff
end

local function expect(condition, what)
	if not condition then error({ kind = "disproved", message = what }, 0) end
end

-- The reason of a failed proof.
local function disproof(err)
	return type(err) == "table" and err.message or tostring(err)
end

local function gct(T, addr)
	return T.t:value(T.head, addr).gct
end

-- Strings are in the chains of their hashes. While the table grows, and at anchors of a second hash, some are not.
local function strings_hang_right(T, tab, mask)
	if mask <= 0 or mask & mask + 1 ~= 0 or mask >= 1 << 30 then return false end
	local seen, right = 0, 0
	for i = 0, math.min(mask, 4095) do
		local anchor = T.t:value(T.gcref, tab + i * T.ref_size)[T.ref]
		if anchor & ~1 ~= 0 and anchor & 1 == 0 then
			local str = T.t:value(T.string, anchor)
			seen = seen + 1
			if str.gct == STRING and str.hash & mask == i then right = right + 1 end
			if seen == 64 then break end
		end
	end
	return seen > 0 and right * 2 > seen
end

-- Names of metamethods come first among the collector's roots. Their number gives the number of roots.
local function metamethods(T, roots)
	local size = xcore.sizeof(T.string)
	for i = 0, 63 do
		local name = T.t:value(T.gcref, roots + i * T.ref_size)[T.ref]
		local str = name ~= 0 and T.t:value(T.string, name)
		local short = str and str.gct == STRING and str.len >= 4 and str.len <= 16
		if not (short and T.t:read(name + size, 2) == "__") then return i end
	end
	return 0
end

-- Facts about a state: { what, holds(T, g, main) }. Unreadable memory counts as false.
local OF_STATE = {
	{ "the main thread", function(T, g, main) return g.mainthref[T.ref] == main end },
	{ "the empty string", function(_, g) return g.strempty.gct == STRING and g.strempty.len == 0 end },
	{ "the collector's state", function(_, g)
		return g.gc.state <= 5 and g.gc.currentwhite & ~0x63 == 0 and g.gc.currentwhite & 3 ~= 0
	end },
	{ "the collector's parameters", function(_, g)
		return g.gc.stepmul > 0 and g.gc.stepmul < 1 << 24 and g.gc.pause < 1 << 24 and g.gc.pause > 0
	end },
	{ "the VM's state", function(_, g) return g.vmstate >= -9 and g.vmstate < MAX_TRACES end },
	{ "the registry", function(T, g)
		local registry = points_to(T.t, T.t:u64(xcore.addr(xcore.ref(g, "registrytv"))), T.gc64, TABLE)
		return registry and gct(T, registry) == TABLE
	end },
	{ "the node of empty tables", function(T, g)
		local node = xcore.addr(xcore.ref(g, "nilnode"))
		return T.t:u64(node) >> 32 == 0xffffffff and T.t:u64(node + 8) >> 32 == 0xffffffff
	end },
	{ "the current thread", function(T, g)
		local current = g.cur_L[T.ref]
		return gct(T, current) == THREAD and T.t:value(T.thread, current).glref[T.mref] == xcore.addr(g)
	end },
	{ "the first object", function(T, g)
		local first = g.gc.root[T.ref]
		return first ~= 0 and gct(T, first) >= STRING and gct(T, first) <= USERDATA
	end },
	{ "open upvalues", function(T, g)
		local open = g.uvhead.next[T.ref]
		return open == xcore.addr(xcore.ref(g, "uvhead")) or gct(T, open) == UPVALUE
	end },
	{ "the string table", function(T, g)
		if T.build.interned then return strings_hang_right(T, xcore.addr(g.str.tab), g.str.mask) end
		return strings_hang_right(T, xcore.addr(g.strhash), g.strmask)
	end },
	{ "the text buffer", function(T, g)
		local buffer, from, to = g.tmpbuf
		if T.build.text_buffers then
			from, to = T.t:ptr(xcore.addr(xcore.ref(buffer, "b"))), T.t:ptr(xcore.addr(xcore.ref(buffer, "e")))
		else
			from, to = buffer.b[T.mref], buffer.e[T.mref]
		end
		return from <= to and to - from < 1 << 32 and (from == 0) == (to == 0)
	end },
	{ "segments of light userdata", function(T, g)
		local segments = T.build.segments and g.gc.lightudseg[T.mref] or 0
		return segments == 0 or segments & 7 == 0 and T.t:readable(segments, 8) == 8
	end },
}

-- Names of the facts that do not hold.
local function failures(proofs, ...)
	local failed = {}
	for _, proof in ipairs(proofs) do
		local read, holds = pcall(proof[2], ...)
		if not (read and holds) then failed[#failed + 1] = proof[1] end
	end
	return failed
end

-- The names that proofs use.
local function names(t, D, build)
	local gc64 = build.gc64
	return { t = t, D = D, build = build, gc64 = gc64, ref = gc64 and "gcptr64" or "gcptr32",
		mref = gc64 and "ptr64" or "ptr32", ref_size = gc64 and 8 or 4, head = D:type "GChead",
		thread = D:type "lua_State", string = D:type "GCstr", gcref = D:type "GCRef" }
end

local function with(build, changes)
	local copy = {}
	for k, v in pairs(build) do copy[k] = v end
	for k, v in pairs(changes) do copy[k] = v end
	return copy
end

-- All combinations of some boolean properties, those of a release first.
local function combinations(build, properties)
	local list = {}
	for bits = 0, (1 << #properties) - 1 do
		local changes = {}
		for i, property in ipairs(properties) do
			local value = bits >> i - 1 & 1 == 1
			if property:sub(1, 1) == "!" then changes[property:sub(2)] = not value else changes[property] = value end
		end
		list[#list + 1] = with(build, changes)
	end
	return list
end

-- A later property does not occur without the earlier ones.
local function in_order(build)
	return (build.interned or not build.segments) and (build.segments or not build.text_buffers) and
		(build.registry_first or build.interned)
end

-- Evidence against this build for the candidate's state; and the names that proofs use.
local function against_state(t, build, candidate)
	local T = names(t, xcore.cdef(cdef.state(build), { private = true }), build)
	local g = t:value(T.D:type "global_State", candidate.g)
	local failed = failures(OF_STATE, T, g, candidate.addr)
	local counted, count = pcall(metamethods, T, xcore.addr(xcore.ref(g, "gcroot")))
	if not counted or count < 10 then failed[#failed + 1], count = "names of metamethods", METAMETHODS end
	build.gcroots = count + 16 -- and basic metatables, default files
	return failed, T
end

-- Builds whose state matches best, each with its declarations. A VM that is damaged in one or two places still
-- counts.
local function states(t, build, candidate)
	local fits, fewest = {}, MAX_FAILURES
	local why = "no layout of the state"
	for _, tried in ipairs(combinations(build, { "!interned", "!segments", "!text_buffers", "registry_first" })) do
		if in_order(tried) then
			local failed, T = against_state(t, tried, candidate)
			if #failed < fewest then fits, fewest, why = {}, #failed, table.concat(failed, ", ") end
			if #failed == fewest and fewest < MAX_FAILURES then
				fits[#fits + 1] = T
				tried.failed = failed
			end
		end
	end
	return fits, why
end

-- ---- C types: the place of their hash table gives the size of the members before it ----

local HASH_BIAS = -0x04c11db7 -- lj_tab.h

-- lj_ctype.c, ct_hashname and ct_hashtype: the anchor of a C type.
local function rotate(x, n)
	return (x << n | x >> 32 - n) & 0xffffffff
end

local function anchor_of(lo, hi)
	lo = (lo ~ hi) & 0xffffffff
	hi = rotate(hi, 14)
	lo = lo - hi & 0xffffffff
	hi = rotate(hi, 5)
	hi = hi ~ lo
	hi = hi - rotate(lo, 13) & 0xffffffff
	return hi & 127
end

-- The number of anchors that hold a type of that anchor, and the number that hold any type.
local function right_anchors(T, cts)
	local right, used, tab, size = 0, 0, xcore.addr(cts.tab), xcore.sizeof(T.D:type "CType")
	for i = 0, 127 do
		local id = cts.hash[i]
		if id ~= 0 then used = used + 1 end
		if id > 0 and id < cts.top then
			local ct = T.t:value(T.D:type "CType", tab + id * size)
			local name = ct.name[T.ref] & 0xffffffff
			local at = name ~= 0 and anchor_of(name, name + HASH_BIAS & 0xffffffff) or anchor_of(ct.info, ct.size)
			if at == i then right = right + 1 end
		end
	end
	return right, used
end

-- The build with information from the state of C types: its number of registers, and the place of finalizers. Returns
-- all candidates, those that agree with more types first; the JIT compiler's state decides between them.
local function with_ctypes(t, T, g)
	local state, list = t:value(T.D:type "global_State", g).ctype_state[T.mref], {}
	if state == 0 then return { T.build } end
	for _, finalizer_root in ipairs { false, true } do
		for _, fpr in ipairs { 8, 14 } do
			local tried = with(T.build, { finalizer_root = finalizer_root, callback_fpr = fpr })
			local trial = names(t, xcore.cdef(cdef.state(tried), { private = true }), tried)
			local cts = t:value(trial.D:type "CTState", state)
			local ok, right, used = pcall(right_anchors, trial, cts)
			if ok and xcore.addr(cts.g) == g and right > used // 2 then
				list[#list + 1] = { build = tried, right = right }
			end
		end
	end
	table.sort(list, function(x, y) return x.right > y.right end)
	for i, it in ipairs(list) do list[i] = it.build end
	return #list > 0 and list or { T.build }
end

-- ---- the JIT compiler ----

-- Possible places of code: executable mappings, and whole modules, because a core may lack the mappings of their
-- code.
local function code_ranges(t)
	local ranges = {}
	for _, map in ipairs(t:maps()) do
		if map.executable then ranges[#ranges + 1] = map end
	end
	return table.move(t:modules(), 1, #t:modules(), #ranges + 1, ranges)
end

-- The dispatch table is the first long run of words that are code addresses; one instruction for each fast function
-- follows.
local function measure_dispatch(t, from)
	local code = code_ranges(t)
	local function is_code(addr)
		for _, range in ipairs(code) do
			if addr >= range.lo and addr <= range.hi then return true end
		end
		return false
	end
	local word, run = t.pointer_size, 0
	for at = from + 7 & ~7, from + CODE_SCAN, word do
		if is_code(t:ptr(at)) then
			run = run + 1
		elseif run >= 100 then
			local first, count = t:u32(at), 0
			while t:u32(at + count * 4) == first + count and count < 256 do count = count + 1 end
			if first < 256 and count > 0 then
				return { addr = at - run * word, length = run, opcodes = first, bcff = count }
			end
			run = 0
		else
			run = 0
		end
	end
	error({ kind = "disproved", message = "no dispatch table after the state" }, 0)
end

-- hotloop, hotexit, tryside, …unroll: unchanged in all versions
local DEFAULTS = { [6] = 56, [7] = 10, [8] = 4, [9] = 4, [10] = 15, [11] = 3, [12] = 2 }

local function traces_are_right(T, J)
	if J.sizetrace > MAX_TRACES or J.freetrace > J.sizetrace then return false end
	local seen = 0
	for i = 1, J.sizetrace - 1 do
		local addr = T.t:value(T.gcref, xcore.addr(J.trace) + i * T.ref_size)[T.ref]
		if addr ~= 0 then
			local trace = T.t:value(T.D:type "GCtrace", addr)
			local snap, map = xcore.addr(trace.snap), xcore.addr(trace.snapmap)
			local snaps = trace.nsnap * xcore.sizeof(T.D:type "SnapShot")
			if trace.gct ~= TRACE or trace.traceno ~= i or map - snap ~= snaps then return false end
			seen = seen + 1
			if seen == 32 then break end
		end
	end
	return true
end

local function areas_are_right(J)
	local area, size, all = J.mcarea and xcore.addr(J.mcarea) or 0, J.szmcarea, J.szallmcarea
	if all < size or size & 0xfff ~= 0 or all & 0xfff ~= 0 or all >= 1 << 40 then return false end
	if area == 0 then return size == 0 end
	local top, bottom = xcore.addr(J.mctop), xcore.addr(J.mcbot)
	return area <= bottom and bottom <= top and top - area <= size
end

local OF_JIT = {
	{ "the JIT compiler's thread", function(T, J) return not J.L or gct(T, xcore.addr(J.L)) == THREAD end },
	{ "the JIT compiler's constants", function(T, J)
		return not T.build.x86 or T.t:u64(xcore.addr(xcore.ref(J, "k64"))) == 0x4338000000000000
	end },
	{ "the buffer of instructions", function(_, J)
		if not J.irbuf then return J.irbotlim == 0 and J.irtoplim == 0 end
		return J.irbotlim <= 0x8000 and J.irtoplim >= 0x8000 and J.irtoplim - J.irbotlim < 1 << 20
	end },
	{ "machine code's areas", function(_, J) return areas_are_right(J) end },
	{ "compiled traces", traces_are_right },
	{ "the JIT compiler's parameters", function(_, J)
		return J.param[0] > 0 and J.param[0] <= MAX_TRACES and J.param[13] > 0
	end },
}

-- The number of parameters with their default values.
local function usual_parameters(J)
	local count = 0
	for i, value in pairs(DEFAULTS) do
		if J.param[i] == value then count = count + 1 end
	end
	return count
end

-- A build whose JIT state has the measured size, by the length of its chains; nil if no length fits.
local function fit_chain(build, measured, g)
	local function dispatch_at(chain)
		local D = xcore.cdef(cdef.all(with(build, { chain = chain })), { private = true })
		local type = D:type "GG_State"
		return xcore.offsetof(type, "dispatch") - xcore.offsetof(type, "g"), D
	end
	local wanted, fits = measured.addr - g, {}
	local chain = 101 + (wanted - (dispatch_at(101))) // 2
	for _, length in ipairs(chain >= 90 and chain <= 130 and { chain, chain - 1, chain - 2, chain - 3 } or {}) do
		local at, D = dispatch_at(length)
		if at == wanted then fits[#fits + 1] = { with(build, { chain = length }), D } end
	end
	return fits
end

local function jits(t, build, measured, candidate)
	local best, most, why = nil, -100 * (MAX_FAILURES - 1) - 1, "no layout of the JIT compiler's state has its size"
	local choices = { "jit_prng", "!exitcode", "early_traces", "saved_base", "finalizer_root" }
	for _, tried in ipairs(combinations(build, choices)) do
		local known = build.finalizer_root ~= nil and tried.finalizer_root ~= build.finalizer_root
		tried.gcroots = build.gcroots + (tried.finalizer_root and 1 or 0)
		for _, fit in ipairs(known and {} or fit_chain(tried, measured, candidate.g)) do
			local T = names(t, fit[2], fit[1])
			local J = t:value(T.D:type "GG_State", candidate.addr).J
			local failed = failures(OF_JIT, T, J)
			local score = usual_parameters(J) - #failed * 100
			if score > most then
				best, most, why = T, score, table.concat(failed, ", ")
				local all = table.move(build.failed, 1, #build.failed, 1, {})
				T.build.failed = table.move(failed, 1, #failed, #all + 1, all)
			end
		end
	end
	return best, why
end

-- Without a JIT compiler, the dispatch table follows the state directly.
local function without_jit(t, build, measured, candidate)
	for _, tried in ipairs(combinations(with(build, { jit = false }), { "saved_base", "finalizer_root" })) do
		tried.gcroots = build.gcroots + (tried.finalizer_root and 1 or 0)
		local D = xcore.cdef(cdef.all(tried), { private = true })
		local type = D:type "GG_State"
		local at = xcore.offsetof(type, "dispatch") - xcore.offsetof(type, "g")
		if at == measured.addr - candidate.g then return names(t, D, tried) end
	end
end

-- ---- all together ----

local function choose(t, candidate)
	local thread, mref = candidate.thread, candidate.mref
	local stack, max = thread.stack[mref], thread.maxstack[mref]
	local build = with(width(t, candidate.gc64), {
		extra = candidate.gap // t.pointer_size,
		slots = 250 + thread.stacksize - 1 - (max - stack) // 8, -- J.slot also has LJ_STACK_EXTRA
	})
	expect(build.slots >= 250 and build.slots < 270, "the main thread's stack")
	local fits, why = states(t, build, candidate)
	expect(#fits > 0, why)
	local measured = measure_dispatch(t, candidate.g)
	for _, T in ipairs(fits) do
		for _, told in ipairs(with_ctypes(t, T, candidate.g)) do
			local measures =
				{ dispatch = measured.length, bcff = measured.bcff, opcodes = measured.opcodes, jit = true }
			local base, best = with(told, measures)
			best, why = jits(t, base, measured, candidate)
			best = best or without_jit(t, base, measured, candidate)
			if best then return best.build end
		end
	end
	expect(false, why)
end

-- The distinguished properties, in words.
function guess.describe(build)
	local words = { build.gc64 and "64-bit references" or "32-bit references" }
	local function add(condition, text)
		if condition then words[#words + 1] = text end
	end
	add(build.extra > 0, "OpenResty's branch")
	add(not build.interned, "string table of before 2020-06")
	add(build.interned and not build.segments, "of before 2020-10")
	add(build.interned and build.segments and not build.text_buffers, "buffers of before 2021-03")
	add(build.finalizer_root, "finalizers among the roots")
	add(build.jit == false, "no JIT compiler")
	add(#build.failed > 0, "but differing in: " .. table.concat(build.failed, ", "))
	return table.concat(words, ", ")
end

-- The build of a target, declared; raises not_found. The first VM that can be proved decides.
function guess.declare(t)
	local found, why
	local function try(candidate)
		local ok, build = pcall(choose, t, candidate)
		if ok then found = build else why = why or ("the candidate at %s: %s"):format(xcore.hex(candidate.addr),
			disproof(build)) end
		return ok
	end
	for _, gc64 in ipairs(t.pointer_size == 8 and { true, false } or { false }) do
		if not found then main_threads(t, gc64, try) end
	end
	if found then
		xcore.cdef(cdef.all(found))
		return found
	end
	error(xcore.error("not_found", "there is no debug information of LuaJIT, and no VM with a provable layout was found"
		.. (why and " (" .. why .. ")" or ""), "pass debug information with --debug-dir, or the program with --exe"))
end

return guess
