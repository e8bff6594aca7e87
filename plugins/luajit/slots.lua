-- slots: the known contents of a stack's slots during a replay of a trace's bytecode: the IR instructions of each
-- value.
--
-- A value is { refs = a set of IR references, exact, loads, bits }. Exact: it is the value of any of the references
-- (several, if a slot was loaded more than once); else it was computed from them, also through loads if `loads` is
-- set. No reference: a constant. `bits` are its 64 bits if they are known; `at` is the slot that still has it. nil,
-- `false` in a map: anything.
local xcore = require "xcore"
local ir = require "luajit.ir"
local layout = require "luajit.layout"
local tables = require "luajit.tables"
local tvalue = require "luajit.tvalue"

local slots = {}

local CDATA_TYPE, NUMBER_TYPE, INTEGER_TYPE = 10, 14, 19
local STORES = { ASTORE = true, HSTORE = true, USTORE = true }
local LARGE = 4096 -- maximum nodes of a table that is searched

local function constant(bits)
	return { refs = {}, exact = true, bits = bits }
end

-- A copy of slots, or of another map, that can be changed independently.
function slots.copy(map)
	local new = {}
	for key, value in pairs(map) do new[key] = value end
	return new
end

function slots.null(self)
	return constant(tvalue.encode(self.vm, 0))
end

-- The trace's instructions of each kind, once: SLOADs by slot, loads of upvalues, whether anything is stored.
function slots.prepare(self)
	self.sloads, self.uloads, self.has = {}, {}, {}
	for ref = ir.BIAS + 1, self.one.nins - 1 do
		local ins = self.ir[ref]
		self.has[ins.name] = true
		if ins.name == "SLOAD" then
			self.sloads[ins.op1] = self.sloads[ins.op1] or {}
			self.sloads[ins.op1][ref] = true
		elseif ins.name == "ULOAD" then
			self.uloads[ref] = true
		elseif STORES[ins.name] and ins.type & ir.TYPE ~= NUMBER_TYPE and ins.type & ir.TYPE ~= INTEGER_TYPE then
			self.stores_objects = true
		end
	end
	local has = self.has
	self.stores = has.ASTORE
		or has.HSTORE
		or has.USTORE
		or has.XSTORE
		or has.CALLXS
		or has.CALLS
		or has.CALLL
		or has.NEWREF
		or false
end

-- ---- values ----

-- The object in a slot that the trace has not written; nil for others.
local function object_at(self, at)
	local ok, bits = pcall(self.vm.t.u64, self.vm.t, at)
	if not ok then return nil end
	local tag = tvalue.decode(self.vm, bits)
	return tag >= layout.STRING and tag <= layout.USERDATA and bits or nil
end

-- A slot in no snapshot is unchanged since the trace began.
local function initial(self, at)
	local refs = self.sloads[(at - self.first) // 8]
	return refs and { refs = refs, exact = true, bits = object_at(self, at), at = at } or nil
end

function slots.get(self, map, at)
	local value = map[at]
	if value == nil then return initial(self, at) end
	return value or nil
end

-- A value computed from others.
local function made_of(values, loads)
	local refs = {}
	for _, value in ipairs(values) do
		if not value then return false end
		for ref in pairs(value.refs) do refs[ref] = true end
		loads = loads or value.loads
	end
	return { refs = refs, exact = false, loads = loads }
end

-- The slots of a snapshot.
function slots.of_snapshot(self, place)
	local map, vm = {}, self.vm
	self.first = place.base - 8 * (1 + vm.layout.fr2)
	for _, entry in ipairs(place.snap.entries) do
		if entry.flags == 0 or entry.flags == 0x40000 then
			local value = { refs = {}, exact = true }
			if entry.ref < ir.BIAS then
				value.bits = ir.constant(vm, self.one, entry.ref)
			else
				value.refs[entry.ref] = true
			end
			map[self.first + 8 * entry.slot] = value
		end
	end
	return map
end

-- The callee: an address, whether it is a Lua function, the name if it is a library function; nil if it is unknown.
function slots.callee(self, value)
	if not value then return nil end
	if not value.bits then
		for ref in pairs(value.refs) do
			if not value.exact or self.ir[ref].type & ir.TYPE ~= CDATA_TYPE then return nil end
		end
		return next(value.refs) and 0 or nil, false
	end
	local tag, addr = tvalue.decode(self.vm, value.bits)
	if tag == layout.CDATA then return addr, false end
	if tag ~= layout.FUNCTION then return nil end
	local fn = self.vm.t:value("GCfuncL", addr)
	if fn.gct ~= layout.FUNCTION then return nil end
	return addr, fn.ffid == 0, fn.ffid > 1 and self.vm:builtin(fn.ffid) or nil
end

-- ---- instructions ----

local function forget(map, frame, from, to)
	for n = from, math.min(to, 255) do map[frame.at + 8 * (1 + n)] = false end
end

-- The current object under a text in a table: only if the trace stores no objects.
local function under(self, bits, text)
	if self.stores_objects or self.has.CALLS or not bits or not text then return nil end
	local ok, found = pcall(function()
		local tag, addr = tvalue.decode(self.vm, bits)
		if tag ~= layout.TABLE or self.vm.t:value("GCtab", addr).hmask >= LARGE then return nil end
		return (tables.index(self.vm, tag, addr, { text = text }))
	end)
	return ok and found or nil
end

-- The current value of an upvalue, if it cannot have been another object.
local function upvalue(self, frame, index)
	local ok, bits, fixed = pcall(function()
		local fn = self.vm.t:value("GCfuncL", frame.func)
		if index >= fn.nupvalues then return nil end
		local at = xcore.addr(fn) + xcore.offsetof("GCfuncL", "uvptr") + index * self.vm.layout.ref_size
		local found = self.vm.t:value("GCupval", self.vm.layout.gc64 and self.vm.t:u64(at) or self.vm.t:u32(at))
		return object_at(self, found.v[self.vm.layout.mref]), found.immutable ~= 0
	end)
	if not ok then return false end
	if not fixed and self.has.USTORE then
		if self.stores_objects or not bits then return false end
		return { refs = {}, exact = false, loads = true, bits = bits }
	end
	return { refs = self.uloads, exact = true, bits = bits }
end

local function environment(self, frame)
	local env = self.vm.t:value("GCfuncL", frame.func).env[self.vm.layout.ref]
	return tvalue.encode(self.vm, layout.TABLE, env)
end

-- The result of a load: the instruction that it made, else the earlier load.
local function loaded(self, inputs, made, bits)
	local value
	if made and #made > 0 then
		value = { refs = {}, exact = #made == 1, loads = #made > 1 }
		for _, ref in ipairs(made) do value.refs[ref] = true end
	elseif not self.stores then
		value = made_of(inputs, true)
	end
	if not bits then return value or false end
	value = value or { refs = {}, loads = true, exact = false }
	value.bits = bits
	return value
end

local INDEX = { TGETV = true, TGETS = true, TGETB = true, TGETR = true }
local CALLS = { CALL = true, CALLM = true, VARG = true }

local function number_bits(number)
	return (string.unpack("<i8", string.pack("<d", number)))
end

local KNOWN = {
	KSTR = function(vm, code, d) return tvalue.of_object(vm, code:object(d)) end,
	KCDATA = function(_, code, d) return code:cdata_bits(d) end,
	KSHORT = function(_, _, d) return number_bits((d ~ 0x8000) - 0x8000 + 0.0) end,
	KNUM = function(_, code, d) return code:number(d) end,
	KPRI = function(vm, _, d) return tvalue.encode(vm, d) end,
}
local FOR = { FORI = true, JFORI = true, FORL = true, IFORL = true }

-- The operands of an instruction: a list, with `false` for anything. For calls: anything.
function slots.inputs(self, map, frame, ins)
	local list = {}
	local function slot(n) list[#list + 1] = slots.get(self, map, frame.at + 8 * (1 + n)) or false end
	local name = ins.name
	if CALLS[name] or name == "TSETM" or name == "CALLT" then return { false } end
	if name == "CAT" then
		for n = ins.b, ins.c do slot(n) end
	elseif FOR[name] then
		for n = ins.a, ins.a + 2 do slot(n) end
	else
		if ins.mode_b == "var" then slot(ins.b) end
		if ins.mode_c == "var" then slot(ins.mode_b and ins.c or ins.d) end
		if ins.mode_a == "var" then slot(ins.a) end
	end
	return list
end

-- A number that is a constant; nil for others.
local function number_of(self, value)
	if not value or not value.bits or next(value.refs) then return nil end
	local tag, number = tvalue.decode(self.vm, value.bits)
	return tag == layout.INTEGER and number or nil
end

-- A loop counter after a step.
local function counted(self, index, step)
	local from, by = number_of(self, index), number_of(self, step)
	return from and by and constant(number_bits(from + by + 0.0)) or made_of { index, step }
end

-- Does a counting loop continue? nil if that is unknown.
function slots.goes_on(self, map, frame, ins)
	local at = frame.at + 8 * (1 + ins.a)
	local index, stop = number_of(self, slots.get(self, map, at)), number_of(self, slots.get(self, map, at + 8))
	local step = number_of(self, slots.get(self, map, at + 16))
	if not FOR[ins.name] or not index or not stop or not step then return nil end
	if step >= 0 then return index <= stop end
	return index >= stop
end

-- Results of non-Lua functions are anything.
function slots.forget_results(map, frame, ins)
	forget(map, frame, ins.a, frame.code.pt.framesize)
end

-- The effect of an instruction on the slots, except calls of Lua functions and returns. `made`: the IR instructions
-- that it made.
function slots.apply(self, map, frame, ins, made)
	local name, at = ins.name, frame.at + 8 * (1 + ins.a)
	if name == "MOV" then
		map[at] = slots.get(self, map, frame.at + 8 * (1 + ins.d)) or false
	elseif KNOWN[name] then
		local ok, bits = pcall(KNOWN[name], self.vm, frame.code, ins.d)
		map[at] = constant(ok and bits or nil)
	elseif name == "KNIL" then
		for n = ins.a, math.min(ins.d, 255) do map[frame.at + 8 * (1 + n)] = slots.null(self) end
	elseif name == "UGET" then
		map[at] = upvalue(self, frame, ins.d)
	elseif name == "GGET" then
		map[at] = loaded(self, {}, made, under(self, environment(self, frame), frame.code:string(ins.d)))
	elseif INDEX[name] then
		local inputs = slots.inputs(self, map, frame, ins)
		local bits = name == "TGETS" and inputs[1] and under(self, inputs[1].bits, frame.code:string(ins.c)) or nil
		map[at] = loaded(self, inputs, made, bits)
	elseif FOR[name] then
		if name:find "L$" then
			map[at] = counted(self, slots.get(self, map, at) or false, slots.get(self, map, at + 16) or false)
		end
		map[at + 24] = slots.get(self, map, at) or false
	elseif name == "ITERL" or name == "IITERL" then
		map[at - 8] = slots.get(self, map, at) or false
	elseif name == "VARG" then
		slots.forget_results(map, frame, ins)
	elseif name == "ITERN" or name == "ITERC" then
		forget(map, frame, ins.a, ins.a + ins.b)
	elseif ins.metamethod and ins.mode_a == "dst" then
		map[at] = made_of(slots.inputs(self, map, frame, ins))
	elseif ins.mode_a == "dst" then
		map[at] = false
	end
end

-- Arguments move down to the frame of a tail call.
function slots.shift(self, map, from, to, count)
	for i = 0, count - 1 do map[to + 8 * i] = slots.get(self, map, from + 8 * i) or false end
end

-- The results of a return in its caller's slots. Returns the number of values.
function slots.results(self, map, frame, ins, below, caller)
	local given, wanted = ins.name == "RET1" and 1 or ins.name == "RET0" and 0 or ins.d - 1, caller.b - 1
	local values = {}
	for i = 0, given - 1 do values[i] = slots.get(self, map, frame.at + 8 * (1 + ins.a + i)) or false end
	forget(map, below, caller.a, below.code.pt.framesize)
	for i = 0, math.min(given, 250) - 1 do map[below.at + 8 * (1 + caller.a + i)] = values[i] end
	for i = given, math.min(wanted, 250) - 1 do map[below.at + 8 * (1 + caller.a + i)] = slots.null(self) end
	return given
end

return slots
