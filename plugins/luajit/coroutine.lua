-- coroutine: the threads of a VM and their states.
local xcore = require "xcore"
local frame = require "luajit.frame"
local layout = require "luajit.layout"

local coroutines = {}

local BATCH = 65536
local YIELDED = 1 -- LUA_YIELD

-- Addresses of all coroutines except the main thread, in order of creation; damage is reported.
function coroutines.all(vm)
	local next, list = vm.layout.next, {}
	local head = vm.g.gc.root[vm.layout.ref]
	while head and head ~= 0 do
		local columns, count, why = xcore.follow(vm.t:value("GChead", head), next, { "gct" },
			{ addresses = true, partial = true, max = BATCH })
		local gct, addresses = columns.gct, columns[1]
		for i = 1, count do
			if gct[i] == layout.THREAD and addresses[i] ~= xcore.addr(vm.main) then list[#list + 1] = addresses[i] end
		end
		if count < BATCH then
			if why then vm:damaged(addresses[count] or head, why) end
			break
		end
		head = vm.t:value("GChead", addresses[count]).nextgc[vm.layout.ref]
	end
	table.move(list, 1, #list, 1, list)
	for i = 1, #list // 2 do list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i] end
	return list
end

-- "running", "suspended", "normal" (it resumed another one), "finished", "failed", "new".
function coroutines.state(vm, L)
	local addr = xcore.addr(L)
	if vm.g.cur_L[vm.layout.ref] == addr and L.cframe then return "running" end
	if L.status == YIELDED then return "suspended" end
	if L.status ~= 0 then return "failed" end
	if L.cframe then return "normal" end
	local base, top = xcore.addr(L.base), xcore.addr(L.top)
	if base > L.stack[vm.layout.mref] + 8 * (1 + vm.layout.fr2) then return "suspended" end
	return top > base and "new" or "finished"
end

-- The running coroutine, from the state of the VM.
function coroutines.running(vm)
	local addr = vm.g.cur_L[vm.layout.ref]
	if addr == 0 then return vm.main end
	return vm.t:value("lua_State", addr)
end

local VMSTATES = { [0] = "in the interpreter", "in C", "in the garbage collector", "leaving a trace", "recording a trace",
	"optimising a trace", "assembling a trace" }

-- The activity of the VM, as text.
function coroutines.vmstate(vm)
	local state = vm.g.vmstate
	if state >= 0 then return "in trace " .. state end
	return VMSTATES[~state] or "in unknown state " .. state
end

-- In a running process, the stack of the running coroutine changes during the read: one moment of it is kept.
local function freeze(vm, L)
	if not vm.t.live or not L.cframe then return end
	pcall(xcore.snapshot, L)
	pcall(xcore.snapshot, L.stack[vm.layout.mref], math.min(L.stacksize * 8, 1 << 20))
end

-- The frames of a coroutine from frame.list, with `top`, its current position (machine.lua).
function coroutines.frames(vm, L)
	freeze(vm, L)
	local top = require("luajit.machine").top(vm, L)
	local list, why = frame.list(vm, L, top)
	list.top = top
	return list, why
end

return coroutines
