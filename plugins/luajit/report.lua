-- report: LuaJIT in `xcore analyze`: the activity and position of each VM, and its contents.
local xcore = require "xcore"
local damage = require "lib.damage"
local coroutines = require "luajit.coroutine"
local frame = require "luajit.frame"
local layout = require "luajit.layout"
local virtual = require "luajit.vm"
local vmstate = require "luajit.vmstate"

local report = {}

local VMS, TYPES, FRAMES = 8, 5, 64 -- of VMs, types of objects, frames searched for Lua code
-- Of g.gc.total: objects of larger VMs are not counted here (about 100 ms per 100 MiB); reads of a running process
-- must be slow, to avoid disturbing it.
local SMALL, SMALL_LIVE = 256 << 20, 4 << 20

-- The innermost Lua function of the running coroutine: its name and place, nil if there is none; and whether the
-- coroutine has any frame.
local function where(vm)
	local L = vm.g.cur_L[vm.layout.ref]
	if L == 0 then L = xcore.addr(vm.main) end
	local list = coroutines.frames(vm, vm.t:value("lua_State", L))
	for i = 1, math.min(#list, FRAMES) do
		local one = frame.describe(vm, list[i], list[i + 1])
		if one.file and one.line then
			return { text = ("%s at %s:%d"):format(one.title, one.file, one.line), runs = true }
		end
	end
	return { runs = #list > 0 }
end

local function add_types(vm, section)
	local total = vm.g.gc.total
	if total > (vm.t.live and SMALL_LIVE or SMALL) then
		return section:note("luajit.gc and luajit.retained show its contents")
	end
	local list, owned = require("luajit.gc").statistics(vm)
	local bytes, count = owned, 0
	for _, one in ipairs(list) do bytes, count = bytes + one.sum, count + one.count end
	section:count("objects", count)
	section:bytes("objects_size", bytes, { label = "their size" })
	table.sort(list, function(a, b) return a.sum > b.sum end)
	local rows = section:table("types", { { "type", "text" }, { "count", "count" }, { "sum", "bytes" } })
	for i = 1, math.min(#list, TYPES) do rows:row(list[i].name, list[i].count, list[i].sum) end
	for _, buffer in ipairs(require("luajit.gc").buffers(vm)) do bytes = bytes + buffer.bytes end
	if bytes == total then return end
	local text = ("objects and buffers are %d bytes, the collector counts %d"):format(bytes, total)
	if vm.t.live or vmstate.name(vm) == "GC" then return section:note(text .. ": the VM was running") end
	section:warning(text, "an object was lost or overwritten, or is being created: luajit.check shows more")
end

local function add(vm, section)
	local name, does = vmstate.name(vm)
	local place = damage.try(where, vm) or { runs = true }
	if name == "C" and not place.runs then does = "is idle: no Lua code runs" end
	section:headline(("the VM %s%s"):format(does, place.text and ", " .. place.text or ""))
	section:text("state", name)
	section:text("lua", place.text, { label = "innermost Lua code" })
	section:text("phase", vmstate.phase(vm), { label = "collector" })
	section:bytes("total", vm.g.gc.total)
	local ok, why = pcall(add_types, vm, section)
	if not ok then section:warning("objects cannot be counted: " .. damage.message(why), "luajit.check shows more") end
	vm:tell(section)
end

-- All VMs; without debug information their layout is guessed, and if that fails, the reason is reported.
local function all(t, answer)
	local ok, list = pcall(virtual.all, t)
	if ok then return list end
	if type(list) ~= "table" or list.kind ~= "not_found" then error(list, 0) end
	answer:section("luajit", "LuaJIT"):note(list.message, list.hint)
	return {}
end

function report.analyze(t, answer)
	for i, vm in ipairs(all(t, answer)) do
		if i > VMS then break end
		local section = answer:section(i == 1 and "luajit" or "luajit_" .. i, i == 1 and "LuaJIT" or "LuaJIT: VM " .. i)
		section:address("vm", vm.addr, { label = "VM" })
		add(vm, section)
		if i == 1 and layout.of(t).build then section:text("layout", layout.describe(t)) end
		if i == 1 then
			section:note("luajit.bt: its stacks; luajit.gc: its objects; luajit.path: paths to large objects")
		end
	end
end

return report
