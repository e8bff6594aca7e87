-- weak: the metatables that make tables weak, by their __mode (lj_gc.c, gc_traverse_tab).
local xcore = require "xcore"
local layout = require "luajit.layout"
local tvalue = require "luajit.tvalue"

local weak = {}
local Weak = {}
Weak.__index = Weak

local NO_MODE = 1 << 3 -- of GCtab.nomm: the VM looked for __mode, and there is none
local MOST = 1 << 16   -- slots of a metatable examined

function weak.new(vm)
	return setmetatable({ vm = vm, modes = {} }, Weak)
end

-- The text of __mode in a table; nil if it has none.
local function mode_text(vm, metatable)
	local tab = vm.t:value("GCtab", metatable)
	if tab.gct ~= layout.TABLE or tab.nomm & NO_MODE ~= 0 or tab.hmask == 0 or tab.hmask > MOST then return nil end
	local node, stride = tab.node[vm.layout.mref], xcore.sizeof "Node"
	for i = 0, tab.hmask do
		local tag, key = tvalue.decode(vm, vm.t:u64(node + i * stride + xcore.offsetof("Node", "key")))
		if tag == layout.STRING then
			local kind, text = tvalue.decode(vm, vm.t:u64(node + i * stride + xcore.offsetof("Node", "val")))
			if kind == layout.STRING and vm:string(key, 8) == "__mode" then return vm:string(text, 16) end
		end
	end
end

-- "K" is used only by the finalizer table: keys are weak, values never.
local function mode_of(vm, metatable)
	local ok, text = pcall(mode_text, vm, metatable)
	if not ok or not text then return nil end
	local mode = { keys = text:find "[kK]" ~= nil, values = text:find "v" ~= nil and not text:find "K" }
	return (mode.keys or mode.values) and mode or nil
end

-- Modes by metatable, for those in a column that make tables weak; nil if none does.
function Weak:of(metatables)
	local modes, found = self.modes, nil
	for _, metatable in ipairs(metatables) do
		if metatable ~= 0 then
			local mode = modes[metatable]
			if mode == nil then
				mode = mode_of(self.vm, metatable) or false
				modes[metatable] = mode
			end
			if mode then
				found = found or {}
				found[metatable] = mode
			end
		end
	end
	return found
end

return weak
