-- declare: layouts for an interpreter without debug information, from a table of releases. A layout is used only if
-- it is of the release that the exported symbols identify, if the runtime's interpreter points back to the runtime
-- and its threads to the interpreter, and if all of this is mapped: builds of one release can also differ in layout.
local xcore = require "xcore"

local declare = {}

local RELEASES = { 13, 12, 11, 10, 9 } -- of 3.N

local function proves(t, D, addr)
	local head = t:value(D:type "_PyRuntimeState", addr).interpreters.head
	if not head or xcore.addr(head.runtime) ~= addr or head.id ~= 0 then return false end
	local thread = xcore.has(head, "threads") and head.threads.head
		or xcore.has(head, "tstate_head") and head.tstate_head
	if not thread or xcore.addr(thread.interp) ~= xcore.addr(head) or thread.thread_id == 0 then return false end
	local gc = head.gc.generations
	for i = 0, 2 do
		local at = xcore.addr(gc[i])
		local first = gc[i].head._gc_next
		if first & 3 ~= 0 or t:u64(first + 8) & ~3 ~= at then return false end
	end
	return true
end

-- N of 3.N. Py_Version exists since 3.11, PyIter_Send since 3.10, PyFrame_GetBack since 3.9. nil if none exists.
local function release(t)
	if t:has_symbol "Py_Version" then
		local ok, version = pcall(function() return t:u64(t:symbol "Py_Version".addr) end)
		if ok then return version >> 24 & 255 == 3 and version >> 16 & 255 or -1 end
	end
	if t:has_symbol "PyIter_Send" then return not t:has_symbol "PyFrame_GetLasti" and 10 or nil end
	return t:has_symbol "PyFrame_GetBack" and 9 or nil
end

-- Declares the matching layout; nothing if debug information has it or nothing matches.
function declare.layouts(t, addr)
	if t:has_type "_PyRuntimeState" and t:has_type "PyCodeObject" then return end
	local layouts = require "cpython.layouts" -- large, and not needed with debug information
	local wanted = release(t)
	for _, one in ipairs(RELEASES) do
		if not wanted or one == wanted then
			local text = layouts.of(one)
			local ok, fits = pcall(function() return proves(t, xcore.cdef(text, { private = true }), addr) end)
			if ok and fits then
				xcore.cdef(text)
				return
			end
		end
	end
end

return declare
