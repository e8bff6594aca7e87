-- frame: the frames of a Lua stack, innermost first (lj_frame.h, lj_debug.c of LuaJIT 2.1).
--
--	LJ_FR2 (64-bit references)                         otherwise
--	base-2   base-1      | base                        base-1            | base
--	[func    PC or size] | [slots ...]                 [func:32 PC/size] | [slots ...]
--	         ^ frame                                    ^ frame
--
-- The lowest two bits of the second word are the kind of caller: 0 Lua (the word is the return position), else its
-- size: 1 C, 2 a continuation (a metamethod; with bit 2 set a pcall), 3 the vararg part of the function above. A
-- continuation has one or two more words below it. The position of a frame in its bytecode is known only from the
-- frame that it called, or from the VM's frame on the C stack ("cframe").
local xcore = require "xcore"
local layout = require "luajit.layout"
local name = require "luajit.name"
local proto = require "luajit.proto"

local frame = {}

local POINTER = (1 << 47) - 1
local LUA, C, CONT, VARG = 0, 1, 2, 3
local CALLBACK = 1 -- instead of a continuation: C called Lua through the FFI
local MOST_INLINED = 64
local MOST = 70000 -- frames: a stack has at most 65,500 slots, and each takes one

-- Offsets in the VM's frame on the C stack, from the stack pointer (lj_frame.h, CFRAME_*, POSIX). Known for x86-64
-- and aarch64.
local CFRAMES = {
	["x86-64"] = {
		[true] = { nres = 8, L = 16, pc = 24, prev = 32, size = 80 },
		[false] = { nres = 16, L = 24, pc = 28, prev = 32, size = 80 },
	},
	aarch64 = { [true] = { nres = 40, L = 16, pc = 8, prev = 0, size = 208 } },
}

function frame.cframes(vm)
	return CFRAMES[vm.t.arch] and CFRAMES[vm.t.arch][vm.layout.gc64]
end

-- ---- words ----

local function word(vm, slots, at)
	local bits = slots and slots[at]
	if math.type(bits) == "integer" then return bits end
	return vm.t:u64(at)
end

local function func_of(vm, slots, f)
	if vm.layout.fr2 == 1 then return word(vm, slots, f - 8) & POINTER end
	return word(vm, slots, f) & 0xffffffff
end

-- The second word: a size is signed.
local function link_of(vm, slots, f)
	if vm.layout.fr2 == 1 then return word(vm, slots, f) end
	return word(vm, slots, f) >> 32
end

local function continuation(vm, slots, f)
	if vm.layout.fr2 == 1 then return word(vm, slots, f - 24), word(vm, slots, f - 16) end
	local bits = word(vm, slots, f - 8)
	return bits & 0xffffffff, bits >> 32
end

-- ---- frames of the VM on the C stack ----

local function raw(cframe) return cframe & ~3 end

local function next_cframe(vm, at)
	local where = frame.cframes(vm)
	return where and at ~= 0 and raw(vm.t:u64(at + where.prev)) or 0
end

-- A call from C without a Lua frame stores the height of the stack as a negative number of results.
local function skip_cframes(vm, L, at, f)
	local where, steps = frame.cframes(vm), 0
	while where and at ~= 0 and steps < MOST do
		local nres = vm.t:i32(at + where.nres)
		if nres >= 0 or f >= L.stack[vm.layout.mref] - nres then break end
		at, steps = next_cframe(vm, at), steps + 1
	end
	return at
end

-- The position that the VM keeps on the C stack, as a PC; nil if there is none.
local function saved_pc(vm, at)
	local where = frame.cframes(vm)
	if not where or at == 0 then return nil end
	local read = vm.layout.gc64 and vm.t.u64 or vm.t.u32
	local pc, L = read(vm.t, at + where.pc), read(vm.t, at + where.L)
	if pc == L or pc == 0 then return nil end
	return pc
end

frame.saved_pc = saved_pc

-- All cframes of a running coroutine, innermost first: { address, ... }.
function frame.chain(vm, L)
	local list, at = {}, raw(L.cframe and xcore.addr(L.cframe) or 0)
	while at ~= 0 and #list < MOST do
		list[#list + 1] = at
		local ok, below = pcall(next_cframe, vm, at)
		if not ok or below <= at then break end
		at = below
	end
	return list
end

-- ---- one frame ----

-- The position of a PC, which points after the instruction. A PC outside the function is in the copy of a return
-- instruction that a trace replaced.
local function position(vm, pt, pc)
	local pos = proto.position(pt, pc)
	if pos then return pos > 0 and pos - 1 or 0 end
	if pc == proto.code(pt) + pt.sizebc * 4 then return pt.sizebc - 1 end
	local ok, trace = pcall(vm.t.value, vm.t, "GCtrace", pc - 4 - xcore.offsetof("GCtrace", "startins"))
	if ok and trace.gct == layout.TRACE then return proto.position(pt, trace.startpc[vm.layout.mref]) end
end

local function describe(vm, one)
	local fn = vm.t:value("GCfuncL", one.func)
	if fn.gct ~= layout.FUNCTION then
		one.damaged = ("%s is not a function"):format(xcore.hex(one.func))
		return one
	end
	one.ffid = fn.ffid
	one.lua = fn.ffid == 0
	if one.lua then
		one.pt = vm:proto_of(fn)
		if one.pt.gct ~= layout.PROTO then
			one.damaged, one.pt = ("%s has no prototype"):format(xcore.hex(one.func)), nil
		elseif one.pc then
			one.pos = position(vm, one.pt, one.pc)
		end
	end
	return one
end

local function pc_of(vm, link)
	return vm.layout.fr2 == 1 and link or link & 0xffffffff
end

-- The frame below `f`: the calling instruction gives its base, else the word is the difference.
local function previous(vm, f, link)
	local below = f - (link & ~7)
	if link & 3 == LUA then below = f - (1 + vm.layout.fr2 + vm.t:u8(pc_of(vm, link) - 3)) * 8 end
	if below >= f then error(xcore.error("format", ("the frame at %s has a wrong size"):format(xcore.hex(f)))) end
	return below
end

-- The saved position of the innermost frame: base, and the PC if there is one.
function frame.saved(vm, L)
	return { base = xcore.addr(L.base) }
end

-- The state of the walk between two frames.
--	at, next	the frame, and the one above it
--	pc		where the frame below the last one returns to
--	vararg		the frame above was the vararg part of this one: the same call
local function step(vm, L, top, walk, list)
	local slots, at = top.slots, walk.at
	walk.cframe = skip_cframes(vm, L, walk.cframe, at)
	local link, func = link_of(vm, slots, at), func_of(vm, slots, at)
	local is_vararg, is_continuation = link & 7 == VARG, link & 7 == CONT
	local one = { at = at, func = func, link = link, next = walk.next, cframe = walk.cframe }
	if is_continuation then one.continuation, one.contpc = continuation(vm, slots, at) end
	if walk.vararg then
		walk.vararg.arguments = at
		walk.vararg.link = link
	elseif func ~= xcore.addr(L) then
		one.pc = walk.pc or saved_pc(vm, walk.cframe)
		if top.compiled_from and at >= top.compiled_from then one.trace = top.trace.traceno end
		list[#list + 1] = describe(vm, one)
	elseif #list > 0 then
		list[#list].nameless = true -- a frame that records only the call of an operator (lj_err_optype_call)
	end
	local callback = is_continuation and one.continuation == CALLBACK
	walk.vararg = is_vararg and one or nil
	walk.pc = link & 3 == LUA and pc_of(vm, link) or is_continuation and not callback and one.contpc or nil
	if link & 3 == C or callback then walk.cframe = next_cframe(vm, walk.cframe) end
	walk.next, walk.at = at, previous(vm, at, link)
end

-- Frames of a coroutine, innermost first, to the bottom of its stack. `top` is its position, by default the one saved
-- in L: { base =, pc =, slots = words by address that a trace has not written to the stack yet }. Each frame: at,
-- func, ffid, lua, pt, pc, pos, next (the frame above it), cframe, arguments (the frame with its extra arguments).
-- Also returns why it ended early, or nil.
function frame.list(vm, L, top)
	top = top or frame.saved(vm, L)
	local list, bottom = {}, L.stack[vm.layout.mref] + 8 * vm.layout.fr2
	local walk = { at = top.base - 8, pc = top.pc, cframe = raw(L.cframe and xcore.addr(L.cframe) or 0) }
	if top.base > L.maxstack[vm.layout.mref] + 4096 then return list, "its base is outside its stack" end
	for _ = 1, MOST do
		if walk.at == bottom then return list end
		if walk.at < bottom then return list, "its last frame reaches below its stack" end
		local ok, err = pcall(step, vm, L, top, walk, list)
		if not ok then
			return list, type(err) == "table" and err.message or tostring(err)
		end
	end
	return list, "more frames than a stack can have"
end

-- The Lua frames that a trace has inlined: { at, func, link }, innermost first, from the one at `f` to the trace's
-- own at `last`; nil if others are between, or if a word is unknown. `slots`: words by address that are not on the
-- stack yet, or texts. `apart`: nothing is read of the trace's own frame, which has neither function nor link then.
function frame.inlined(vm, slots, f, last, apart)
	local list = {}
	while #list < MOST_INLINED and f >= last do
		local known = type(slots[f - 8 * vm.layout.fr2]) ~= "string" and type(slots[f]) ~= "string"
		if f ~= last and not known then return nil end
		if f == last and apart then
			list[#list + 1] = { at = f }
			return list
		end
		local link = link_of(vm, slots, f)
		list[#list + 1] = { at = f, func = func_of(vm, slots, f), link = link }
		if f == last then return list end
		if link & 3 ~= LUA then return nil end
		f = previous(vm, f, link)
	end
end

-- ---- names of frames ----

-- The current line; nil if it is unknown.
function frame.line(vm, one)
	return one.pt and one.pos and proto.line(vm, one.pt, one.pos)
end

-- File (or the chunk's own name), and whether it is a file.
function frame.source(vm, one)
	if not one.pt then return nil end
	return proto.source(vm, one.pt)
end

local INNER = { meta = true, clib = true, method = true, callback = true, util = true, opt = true, profile = true }

-- The Lua name of a fast function: "string.gsub", "ffi.meta.__newindex", "jit.util.funcinfo".
function frame.builtin(vm, ffid)
	return (vm:builtin(ffid):gsub("^(%a+%.)(%a+)_", function(outer, inner)
		return outer .. inner .. (INNER[inner] and "." or "_")
	end))
end

-- The name of a C function or a fast function: "string.gsub", the symbol of its code.
local function machine_name(vm, one)
	if one.ffid > 1 then return frame.builtin(vm, one.ffid), "builtin" end
	local code = vm.t:ptr(xcore.addr(vm.t:value("GCfuncC", one.func), "f"))
	return xcore.symbol(code) or xcore.hex(code), "C"
end

-- Properties that all frames at one place share are computed once.
local function cached(vm, cache, key, make, ...)
	vm[cache] = vm[cache] or {}
	local found = vm[cache][key]
	if found == nil then
		found = make(vm, ...)
		vm[cache][key] = found
	end
	return found
end

local function called_by(vm, one, caller)
	local ok, kind, called, index = pcall(name.of, vm, one, caller)
	return ok and kind and called and { kind = kind, name = called, text = kind .. " " .. called, index = index } or false
end

local function prototype(vm, pt)
	local source, is_file = proto.source(vm, pt)
	return { source = source, is_file = is_file, place = name.place(vm, pt), first = pt.firstline }
end

-- The description of a frame: title, kind ("Lua", "main", "builtin", "C"), file, line, called ("method gsub"),
-- defined.
function frame.describe(vm, one, caller)
	if one.damaged then return { title = "?", kind = "damaged: " .. one.damaged } end
	local what = {}
	local named = caller and caller.pt and caller.pos and not one.nameless
		and cached(vm, "called_names", xcore.addr(caller.pt) << 20 ~ caller.pos, called_by, one, caller)
	if named and not name.means_another(vm, named, one, caller) then
		what.called_name, what.called = named.name, named.text
	end
	if not one.lua then
		what.title, what.kind = machine_name(vm, one)
		-- Without debug information fast functions have only numbers.
		if what.title:find "^#" and what.called_name then
			what.title = ("%s (%s)"):format(what.called_name, what.title)
		end
		return what
	end
	local known = cached(vm, "described", xcore.addr(one.pt), prototype, one.pt)
	what.file, what.line, what.defined, what.is_file = known.source, frame.line(vm, one), known.first, known.is_file
	what.kind = known.first == 0 and "main" or "Lua"
	what.title = what.kind == "main" and "main chunk" or what.called_name or "<" .. known.place .. ">"
	if known.place:find "^builtin:" then what.kind, what.title = "builtin", known.place:sub(9) end
	if one.trace then what.kind = ("Lua, trace %d"):format(one.trace) end
	return what
end

return frame
