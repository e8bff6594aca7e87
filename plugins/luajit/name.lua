-- name: the name of a function by its caller, as in debug.traceback: LuaJIT's functions have no names; the compiler
-- knows only where the caller's bytecode fetched them from (lj_debug.c, lj_debug_funcname).
--
-- A function that was called last of all by another one (a tail call) is in its frame, below the caller of that one.
-- The caller's name is then that of the other: where it can be seen what the name means, it is not used.
local xcore = require "xcore"
local bytecode = require "luajit.bytecode"
local expression = require "luajit.expression"
local layout = require "luajit.layout"
local proto = require "luajit.proto"
local tvalue = require "luajit.tvalue"

local name = {}

local LONGEST = 512 -- bytes of a path examined: more is damage

local function local_name(vm, pt, pos, slot)
	for _, variable in ipairs(proto.locals(vm, pt, pos)) do
		if variable.slot == slot then return variable.name end
	end
end

-- The source of an instruction that writes the slot: the kind of name, the name, and an upvalue's index; or nothing,
-- nothing and another slot to continue with; or nothing.
local function fetched(vm, code, pos, ins, slot)
	local op = ins.name
	if op == "MOV" then return nil, nil, ins.d end
	if op == "GGET" then return "global", code:string(ins.d) end
	if op == "UGET" then return "upvalue", proto.upvalues(vm, code.pt)[ins.d + 1], ins.d + 1 end
	if op ~= "TGETS" then return nil end
	local before = pos > 1 and code:at(pos - 1)
	local method = before and before.name == "MOV" and before.a == slot + 1 + vm.layout.fr2 and before.d == ins.b
	return method and "method" or "field", code:string(ins.c)
end

-- The name of the value in a slot at a position: "local", "global", "method", "field" or "upvalue", the name, and the
-- index of an upvalue.
function name.slot(vm, code, pos, slot)
	for _ = 1, 64 do -- moves from slot to slot
		local variable = local_name(vm, code.pt, pos, slot)
		if variable then return "local", variable end
		local moved
		repeat
			pos = pos - 1
			if pos < 1 then return nil end
			local ins = code:at(pos)
			if ins.mode_a == "base" and slot >= ins.a and (ins.name ~= "KNIL" or slot <= ins.d) then return nil end
			if ins.mode_a == "dst" and ins.a == slot then
				local kind, text, number = fetched(vm, code, pos, ins, slot)
				if kind or not number then return kind, text, number end
				slot, moved = number, true
			end
		until moved
	end
end

-- A place in a prototype, short: "file.lua:12"; without a position, its definition. Library functions written in Lua
-- have no lines: "builtin:remove".
function name.place(vm, pt, pos)
	local source, is_file = proto.source(vm, pt)
	local first = pt.firstline
	if first == -1 or first == 0xffffffff then return "builtin:" .. (source:match '^%[string "(.*)"%]$' or source) end
	return ("%s:%d"):format(
		is_file and source:sub(-LONGEST):match "[^/]*$" or source,
		pos and proto.line(vm, pt, pos) or first
	)
end

-- The name that the caller uses for a frame's function: the kind, the name, and the index of an upvalue; or nil. A
-- caller that is not a Lua function at a known position gives none. An intervening hook or finalizer is also
-- "metamethod".
function name.of(vm, one, caller)
	if one.nameless or not caller or not caller.pos or not caller.pt then return nil end
	local code = bytecode.of(vm, caller.pt)
	local ins = code:at(caller.pos)
	if not ins or not ins.metamethod then return nil end
	if ins.metamethod ~= "call" then return "metamethod", "__" .. ins.metamethod end
	return name.slot(vm, code, caller.pos, ins.name == "ITERC" and ins.a - 3 or ins.a)
end

-- The prototype of the Lua function that the value is; nil: it is none.
local function prototype(vm, bits)
	local tag, addr = tvalue.decode(vm, bits)
	if tag ~= layout.FUNCTION then return nil end
	local fn = vm.t:value("GCfuncL", addr)
	return fn.ffid == 0 and xcore.addr(vm:proto_of(fn)) or nil
end

-- Does the name of a call, as a table { kind, name, index, … } that is kept for it, mean another Lua function than that
-- of the frame? Fields and methods: what held them is not known any more.
function name.means_another(vm, named, one, caller)
	if not one.pt or not caller.func or (named.kind ~= "upvalue" and named.kind ~= "global") then return false end
	local key = named.kind == "upvalue" and caller.func or 0
	named.means = named.means or {}
	if named.means[key] == nil then
		local ok, pt = pcall(function()
			if named.kind == "global" then return prototype(vm, (expression.eval(vm, named.name))) end
			local fn = vm.t:value("GCfuncL", caller.func)
			return prototype(vm, vm.t:u64(expression.upvalue(vm, fn, named.index)))
		end)
		named.means[key] = ok and pt or false
	end
	return named.means[key] and named.means[key] ~= xcore.addr(one.pt)
end

return name
