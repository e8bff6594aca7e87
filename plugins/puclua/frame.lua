-- frame: the calls of a thread, innermost first, from Lua's CallInfos.
local xcore = require "xcore"
local layout = require "puclua.layout"
local proto = require "puclua.proto"
local value = require "puclua.value"

local frame = {}

local MOST = 200000

-- A pointer member as a number, 0 for NULL: damaged members are often NULL.
local function pointer(vm, struct, member)
	return vm.t:ptr(xcore.addr(struct, member))
end

-- Addresses of the CallInfos, innermost first, without the thread's base CallInfo.
local function infos(vm, thread)
	local list, size = {}, xcore.sizeof "CallInfo"
	local at = pointer(vm, thread, "ci")
	if at == 0 then return list end
	if vm.layout.array_of_calls then
		local base = pointer(vm, thread, "base_ci")
		if base == 0 or (at - base) % size ~= 0 or (at - base) // size > MOST then
			vm:damaged(xcore.addr(thread), "its array of calls is not in order")
			return list
		end
		while at > base do
			list[#list + 1] = at
			at = at - size
		end
		return list
	end
	local base, previous = xcore.addr(xcore.ref(thread, "base_ci")), xcore.offsetof("CallInfo", "previous")
	local seen = {}
	while at ~= base and at ~= 0 and not seen[at] and #list < MOST do
		list[#list + 1], seen[at] = at, true
		at = vm.t:ptr(at + previous)
	end
	if at ~= base then vm:damaged(xcore.addr(thread), "its list of calls does not end at its base call") end
	return list
end

-- The current instruction of a Lua function: the one before the next.
local function position(vm, thread, ci, pt, innermost)
	local pc
	if vm.layout.array_of_calls then
		pc = pointer(vm, innermost and thread or ci, "savedpc")
	else
		pc = pointer(vm, ci, "u.l.savedpc")
	end
	if pc == 0 then return nil end
	local at = (pc - pointer(vm, pt, "code")) // 4 - 1
	return at >= -1 and at < pt.sizecode and math.max(at, 0) or nil
end

-- Does this call start a new interpreter on the C stack? nil if the CallInfo does not record it.
local function fresh(vm, ci)
	local L = vm.layout
	if L.array_of_calls then return nil end
	if L.alimit then return ci.callstatus & 1 << 2 ~= 0 end -- CIST_FRESH
	if L.counted then return ci.callstatus & 1 << 3 ~= 0 end -- CIST_FRESH
	return ci.callstatus & 1 << 2 == 0 -- CIST_REENTRY
end

local function lua_frame(vm, thread, ci, one, innermost)
	local pt = one.pt
	one.kind = pt.linedefined == 0 and "main" or "Lua"
	one.source, one.is_file = value.source(vm, pt)
	one.defined = pt.linedefined
	one.pc = position(vm, thread, ci, pt, innermost)
	one.line = one.pc and proto.line(vm, pt, one.pc)
	one.fresh = fresh(vm, ci)
	if vm.layout.array_of_calls then
		one.base, one.tail = pointer(vm, ci, "base"), ci.tailcalls > 0
	elseif vm.layout.alimit then
		one.base = one.func + vm.layout.value_size
	else
		one.base = pointer(vm, ci, "u.l.base")
	end
end

local function read(vm, thread, at, innermost)
	local ci = vm.t:value("CallInfo", at)
	local one = { ci = at, func = vm.t:ptr(at + vm.layout.func), kind = "C" }
	one.top = vm.t:ptr(at + vm.layout.ci_top)
	local name, payload, is_object = value.decode(vm, one.func)
	if name == "function" and is_object then
		one.fn = payload
		one.pt, one.c = value.prototype(vm, payload)
	elseif name == "C function" then
		one.c = payload
	else
		one.kind = "?"
	end
	if one.pt then lua_frame(vm, thread, ci, one, innermost) end
	return one
end

-- All calls of a thread, innermost first. An unreadable call ends the list and is reported.
function frame.list(vm, addr)
	local thread, list = vm.t:value("lua_State", addr), {}
	for i, at in ipairs(infos(vm, thread)) do
		local ok, one = pcall(read, vm, thread, at, i == 1)
		if not ok then
			vm:damaged(
				at,
				"a call of thread " .. xcore.hex(addr) .. ": " .. tostring(type(one) == "table" and one.message or one)
			)
			break
		end
		list[i] = one
	end
	return list
end

-- ---- names ----

-- Functions in tables of package.loaded, and in _G, by address: "string.gsub", "app.run".
local function loaded_names(vm)
	local tab, names = require "puclua.tab", {}
	local function add(prefix, at)
		tab.each(vm, at, 4096, function(key, value_at)
			local kind, text = value.decode(vm, key.at, key.tt)
			local of, payload = value.decode(vm, value_at)
			if kind == "string" and (of == "function" or of == "C function") and not names[payload] then
				names[payload] = prefix .. vm:string(text, 100)
			end
		end)
	end
	local loaded = tab.loaded(vm)
	local globals = tab.globals(vm)
	if globals then pcall(add, "", globals) end
	for _, module in ipairs(loaded) do
		if module.name ~= "_G" and module.addr ~= globals then pcall(add, module.name .. ".", module.addr) end
	end
	return names
end

-- The caller's name for a function: of a local or an upvalue that holds it.
local function callers_name(vm, one, caller)
	if not one.fn or not caller or not caller.pt then return nil end
	for slot, name in ipairs(caller.pc and proto.locals(vm, caller.pt, caller.pc) or {}) do
		local _, payload = value.decode(vm, caller.base + (slot - 1) * vm.layout.value_size)
		if payload == one.fn then return name end
	end
	for i, at in ipairs(frame.upvalues(vm, caller)) do
		local _, payload = value.decode(vm, at)
		if payload == one.fn then return proto.upvalue(vm, caller.pt, i - 1) end
	end
end

-- The name of a frame: from package.loaded, from its caller's variables, else from its definition.
function frame.name(vm, one, caller)
	if not vm.names then
		local ok, names = pcall(loaded_names, vm)
		vm.names = ok and names or {}
	end
	local known = vm.names[one.fn or one.c] or vm.names[one.c]
	if known then return known end
	if one.kind == "main" then return "main chunk" end
	local ok, name = pcall(callers_name, vm, one, caller)
	if ok and name and name ~= "?" then return name end
	if one.c then return xcore.symbol(one.c) or xcore.hex(one.c) end
	if one.pt then return ("function <%s:%d>"):format(one.source:match "[^/]+$" or one.source, one.defined) end
	return "?"
end

-- ---- variables ----

-- The addresses of the values of a Lua function's upvalues.
function frame.upvalues(vm, one)
	local list, fn = {}, vm.t:value("LClosure", one.fn)
	for i = 0, fn.nupvalues - 1 do
		local upvalue = vm.t:ptr(xcore.addr(fn) + xcore.offsetof("LClosure", "upvals") + i * 8)
		list[i + 1] = vm.t:ptr(upvalue + vm.layout.uv_v)
	end
	return list
end

local function shown(vm, name, kind, at)
	local ok, text = pcall(value.show, vm, at, 60)
	local read_type, type_name = pcall(value.decode, vm, at)
	return {
		name = name,
		kind = kind,
		value = ok and text or nil,
		why = not ok and "cannot be read" or nil,
		type = read_type and type_name or nil,
	}
end

-- Arguments, locals and upvalues of a running Lua function: { name, kind, type, value }.
function frame.variables(vm, one)
	local list, size = {}, vm.layout.value_size
	if not one.pt then return list end
	for slot, name in ipairs(one.pc and proto.locals(vm, one.pt, one.pc) or {}) do
		if not name:find "^%(" then
			list[#list + 1] =
				shown(vm, name, slot <= one.pt.numparams and "argument" or "local", one.base + (slot - 1) * size)
		end
	end
	for i, at in ipairs(frame.upvalues(vm, one)) do
		local name = proto.upvalue(vm, one.pt, i - 1)
		if name ~= "_ENV" then list[#list + 1] = shown(vm, name or "#" .. i, "upvalue", at) end
	end
	return list
end

-- ---- threads ----

-- All threads of a state: addresses, the main one first.
function frame.threads(vm)
	local main, list = xcore.addr(vm.main), {}
	require("puclua.object").each(vm, nil, function(kind, addresses)
		if kind == layout.THREAD then
			for _, addr in ipairs(addresses) do
				if addr ~= main then list[#list + 1] = addr end
			end
		end
	end)
	table.sort(list)
	table.insert(list, 1, main)
	return list
end

-- "suspended", "new", "finished", "failed", or "active": it runs, or has resumed another one.
function frame.state(vm, addr, list)
	local YIELDED, thread = 1, vm.t:value("lua_State", addr)
	if thread.status == YIELDED then return "suspended" end
	if thread.status ~= 0 then return "failed" end
	if #list > 0 then return "active" end
	local slots = (vm.t:ptr(addr + vm.layout.top) - vm.t:ptr(addr + vm.layout.stack)) // vm.layout.value_size
	if addr == xcore.addr(vm.main) then return "idle" end
	return slots > 1 and "new" or "finished"
end

return frame
