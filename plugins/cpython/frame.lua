-- frame: the Python frames of a thread, innermost first, and the C frame of each.
local xcore = require "xcore"
local code = require "cpython.code"
local runtime = require "cpython.runtime"
local types = require "cpython.types"
local value = require "cpython.value"

local frame = {}

local MOST = 200000
local GENERATOR = 1 -- owner

-- ---- up to 3.10: frame objects ----

local function from_object(py, v)
	local self = { addr = xcore.addr(v), value = v, code = v.f_code and code.at(py, xcore.addr(v.f_code)) }
	local scale = py.layout.line_table == "pairs" and 2 or 1
	self.offset = v.f_lasti * scale
	self.locals = xcore.addr(v, "f_localsplus")
	return self
end

local function objects(py, thread)
	local list, at, cframe = {}, thread.state.frame, py.layout.cframe and thread.state.cframe or nil
	local seen = {}
	while at and #list < MOST do
		local one = from_object(py, at)
		if seen[one.addr] then
			py:damaged(one.addr, "frames are a cycle")
			break
		end
		seen[one.addr] = true
		if cframe then
			one.at = xcore.addr(cframe)
			cframe = cframe.previous
		end
		list[#list + 1] = one
		at = at.f_back
	end
	return list
end

-- ---- from 3.11: interpreter frames ----

local function from_interpreter(py, v)
	local L = py.layout
	local held = v[L.code_of_frame]
	local self = { addr = xcore.addr(v), value = v, code = held and code.at(py, xcore.addr(held)), owner = v.owner }
	self.locals = xcore.addr(v, "localsplus")
	local instruction = v[L.instruction]
	if self.code and instruction then self.offset = xcore.addr(instruction) - self.code.start end
	return self
end

-- Python itself also hides a frame that is being created or destroyed.
local function complete(self)
	if not self.code then return false end
	return self.owner == GENERATOR or self.offset == nil or self.offset >= self.code.traceable * 2
end

local function first_frame(py, thread)
	local state = thread.state
	if py.layout.cframe then return state.cframe and state.cframe.current_frame, state.cframe end
	return state.current_frame
end

-- Frames wait for the address of their place on the C stack, which comes after them in the walk.
local function interpreter_frames(py, thread)
	local L, list, waiting, seen = py.layout, {}, {}, {}
	local at, cframe = first_frame(py, thread)
	local function close(addr)
		for _, one in ipairs(waiting) do one.at = addr end
		waiting = {}
	end
	local count = 0
	while at and count < MOST do
		local addr = xcore.addr(at)
		if seen[addr] then
			py:damaged(addr, "frames are a cycle")
			break
		end
		seen[addr], count = true, count + 1
		if at.owner == L.on_c_stack then
			close(addr)
		else
			local one = from_interpreter(py, at)
			if complete(one) then
				list[#list + 1] = one
				waiting[#waiting + 1] = one
			elseif not one.code then
				py:damaged(addr, "a frame without code")
			end
			if L.is_entry and at.is_entry then
				if cframe then
					close(xcore.addr(cframe))
					cframe = cframe.previous
				end
			end
		end
		at = at.previous
	end
	return list
end

-- The frames of a thread state; a fault ends them, and is the second result.
function frame.list(py, thread)
	if thread.frames then return thread.frames, thread.why end
	local list, why = runtime.try(py.layout.interpreter_frames and interpreter_frames or objects, py, thread)
	thread.frames, thread.why = list or {}, why
	return thread.frames, why
end

-- Name, file and line; unknown ones are nil.
function frame.describe(py, self)
	local c = self.code
	if not c then return { name = "?" } end
	return { name = c.name or "?", file = c.file, line = self.offset and code.line(py, c, self.offset) }
end

-- The number of slots of a frame with objects: its variables, and its value stack if its height was saved. For a
-- running frame, only the evaluator knows the height; slots above it are stale.
local function filled(py, self)
	local c, v, count = self.code, self.value, #self.code.names
	if py.layout.interpreter_frames then
		return v.stacktop > count and v.stacktop <= count + c.value.co_stacksize and v.stacktop or count
	end
	local top = xcore.has(v, "f_stacktop") and v.f_stacktop
	local slots = top and (xcore.addr(top) - self.locals) // py.layout.word or 0
	if xcore.has(v, "f_stackdepth") then slots = count + v.f_stackdepth end -- 3.10: below 0 while it runs
	return slots > count and slots <= count + c.value.co_stacksize and slots or count
end

-- Addresses of the objects in the slots of a frame.
function frame.slots(py, self)
	local list, word = {}, py.layout.word
	if not self.code then return list end
	for i = 0, filled(py, self) - 1 do
		local ok, addr = pcall(py.t.ptr, py.t, self.locals + i * word)
		if ok and addr ~= 0 then list[#list + 1] = addr & ~3 end
	end
	return list
end

-- ---- variables ----

local function in_cell(py, addr)
	local type = types.of(py, addr)
	if not type or type.kind ~= "cell" then return addr end
	return py.t:ptr(addr + xcore.offsetof("PyCellObject", "ob_ref"))
end

-- { name, addr, text, argument } of the variables that have a value, in order.
function frame.variables(py, self)
	local c, list, at_name = self.code, {}, {}
	for i, name in ipairs(c and c.names or {}) do
		local ok, addr = pcall(py.t.ptr, py.t, self.locals + (i - 1) * py.layout.word)
		addr = ok and addr & ~3 or 0
		if addr ~= 0 and c.cell[i] then
			local read, held = pcall(in_cell, py, addr)
			addr = read and held or 0
		end
		if addr ~= 0 and not c.hidden[i] and not at_name[name] then
			at_name[name] = true
			list[#list + 1] = { name = name, addr = addr, text = value.show(py, addr), argument = i <= c.arguments }
		elseif not ok then
			list[#list + 1] = { name = name, why = "cannot be read" }
		end
	end
	return list
end

return frame
