-- owned: references of CPython's own structs, by their members, as the collector visits them: functions, generators,
-- frames and so on. Other words are flags, padding, borrowed references, or old contents: a generator's flags, or its
-- frame after its end, are not cleared.
--
--	generator  3.9   a frame object; after all others an asynchronous one's finalizer, or a coroutine's origin
--	           3.11  the evaluator's frame is in it, and counts until it is cleared
--	frame      3.9   variables, and the stack of values when it was put down
--	           3.11  the evaluator's frame is in it when nobody else has that
--	evaluator's frame: variables and values up to stacktop, which is -1 while it runs itself: then the thread's frames are what holds
--	                   its variables
local xcore = require "xcore"

local owned = {}

local ORIGIN = "gi_origin_or_finalizer" -- of coroutines and asynchronous generators; generators leave it unchanged
local CLEARED = 4                       -- FRAME_CLEARED, of gi_frame_state
local SPECIALS = { "frame_obj", "f_locals", "f_func", "f_funcobj", "f_code", "f_executable" }

local STRUCTS = {
	["function"] = {
		"PyFunctionObject", "func_code", "func_globals", "func_builtins", "func_name", "func_qualname", "func_defaults", "func_kwdefaults",
		"func_closure", "func_doc", "func_dict", "func_module", "func_annotations", "func_typeparams",
	},
	method = { "PyMethodObject", "im_func", "im_self" },
	cell = { "PyCellObject", "ob_ref" },
	code = {
		"PyCodeObject", "co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_filename", "co_name",
		"co_qualname", "co_lnotab", "co_linetable", "co_exceptiontable", "co_localsplusnames", "co_localspluskinds", "_co_code",
	},
	generator = {
		"PyGenObject", "gi_frame", "gi_code", "gi_name", "gi_qualname", "gi_exc_state.exc_type", "gi_exc_state.exc_value",
		"gi_exc_state.exc_traceback",
	},
	frame = { "PyFrameObject", "f_back", "f_trace" },
}
-- Further members of a frame object: up to 3.10, and from 3.13 on.
local FRAME = {
	objects = { "f_code", "f_builtins", "f_globals", "f_locals" },
	interpreter = { "f_extra_locals", "f_locals_cache" },
}

-- Columns; unreadable rows are false.
local function gather(type, addresses, fields)
	return (xcore.gather(type, addresses, fields, { partial = true }))
end
owned.gather = gather

-- Offsets of the members that this version has.
local function add_offsets(list, struct, names, first)
	for i = first or 1, #names do
		local ok, offset = pcall(xcore.offsetof, struct, names[i])
		if ok then list[#list + 1] = offset end
	end
	return list
end

local function offsets(py, kind)
	py.offsets = py.offsets or {}
	local list, spec = py.offsets[kind], STRUCTS[kind]
	if not list then
		list = add_offsets({}, spec[1], spec, 2)
		if kind == "frame" then
			add_offsets(list, spec[1], FRAME[py.layout.interpreter_frames and "interpreter" or "objects"])
		end
		py.offsets[kind] = list
	end
	return list
end

-- ---- frames ----

-- A row of a span.
local function add_row(rows, from, start, count)
	local n = #rows.from + 1
	rows.from[n], rows.start[n], rows.count[n] = from, start, count
end
owned.add_row = add_row

-- Frames of the evaluator, at these addresses, that belong to these objects.
local function add_interpreter_frames(py, spans, from, at)
	if not py.layout.stacktop then return end
	local code, slots = py.layout.code_of_frame, xcore.offsetof("_PyInterpreterFrame", "localsplus")
	local c = gather("_PyInterpreterFrame", at, { "stacktop", code })
	local codes, rows = c[code], { from = {}, start = {}, count = {} }
	for i = 1, #codes do codes[i] = codes[i] or 0 end
	local size = gather("PyCodeObject", codes, { "co_nlocalsplus", "co_stacksize" })
	for i, addr in ipairs(from) do
		local top, room = c.stacktop[i], size.co_nlocalsplus[i] and size.co_nlocalsplus[i] + size.co_stacksize[i]
		if top and room and top > room then
			py:damaged(addr, "a frame with a deeper stack than its code allows")
		elseif top and room and top > 0 then
			add_row(rows, addr, at[i] + slots, top)
		end
	end
	local specials = add_offsets({}, "_PyInterpreterFrame", SPECIALS)
	spans[#spans + 1] =
		{ from = from, start = at, count = 1, stride = xcore.sizeof "_PyInterpreterFrame", at = specials }
	spans[#spans + 1] = rows
end

local function add_owned_frames(py, spans, addresses)
	local behind, frames =
		xcore.offsetof("PyFrameObject", "_f_frame_data"), gather("PyFrameObject", addresses, { "f_frame" }).f_frame
	local from, at = {}, {}
	for i, addr in ipairs(addresses) do
		if frames[i] == addr + behind then from[#from + 1], at[#at + 1] = addr, addr + behind end
	end
	add_interpreter_frames(py, spans, from, at)
end

-- The number of values on the stack of a frame object: 3.9 has a pointer, 3.10 a number; unknown for a running one.
local function depth_of(c, i, stack, word)
	if c.f_stackdepth then return math.max(c.f_stackdepth[i], 0) end
	return c.f_stacktop[i] ~= 0 and (c.f_stacktop[i] - stack) // word or 0
end

local function add_variables(py, spans, addresses)
	local word, slots = py.layout.word, xcore.offsetof("PyFrameObject", "f_localsplus")
	local top = xcore.has(py.t:type "PyFrameObject", "f_stackdepth") and "f_stackdepth" or "f_stacktop"
	local c, rows =
		gather("PyFrameObject", addresses, { "f_valuestack", top, "ob_base.ob_size" }),
		{ from = {}, start = {}, count = {} }
	for i, addr in ipairs(addresses) do
		local start, stack = addr + slots, c.f_valuestack[i]
		local count = stack and (stack - start) // word + depth_of(c, i, stack, word)
		if count and (count < 0 or count > c["ob_base.ob_size"][i]) then
			py:damaged(addr, "a frame that is larger than its object")
		elseif count then
			add_row(rows, addr, start, count)
		end
	end
	spans[#spans + 1] = rows
end

-- ---- generators ----

local function cleared(py)
	if py.t:has_type "enum _framestate" then
		for _, e in ipairs(py.t:type "enum _framestate":enumerators()) do
			if e.name == "FRAME_CLEARED" then return e.value end
		end
	end
	return CLEARED
end

-- The origin of a coroutine, or the finalizer of an asynchronous generator; generators have neither.
function owned.further(py, type)
	if not py.t:has_symbol "PyGen_Type" or type.addr == py.t:symbol "PyGen_Type".addr then return nil end
	if py.layout.interpreter_frames then return xcore.offsetof("PyGenObject", ORIGIN) end
	local behind = xcore.sizeof "PyGenObject"
	return behind + py.layout.word <= type.basic and behind or nil
end

-- A span of these words, in objects of a type.
local function add_words(spans, type, addresses, at)
	spans[#spans + 1] = { from = addresses, start = addresses, count = 1, stride = type.basic, at = at }
end

local function add_generators(py, spans, type, addresses)
	local word = owned.further(py, type)
	if word then add_words(spans, type, addresses, { word }) end
	if not py.layout.interpreter_frames then return end
	local inside, last = xcore.offsetof("PyGenObject", "gi_iframe"), cleared(py)
	local state, from, at, ended = gather("PyGenObject", addresses, { "gi_frame_state" }).gi_frame_state, {}, {}, {}
	for i, addr in ipairs(addresses) do
		if state[i] and state[i] < last then
			from[#from + 1], at[#at + 1] = addr, addr + inside
		else
			ended[#ended + 1] = addr
		end
	end
	add_interpreter_frames(py, spans, from, at)
	if xcore.has(py.t:type "PyGenObject", "gi_code") then return end
	-- Since 3.12 the frame has the code for the generator, even after its end.
	add_words(spans, type, ended, { inside + xcore.offsetof("_PyInterpreterFrame", py.layout.code_of_frame) })
end

-- Spans of objects of a type with known members; nil if they are unknown.
function owned.spans(py, type, addresses)
	local spec = STRUCTS[type.kind]
	if not spec or not py.t:has_type(spec[1]) then return nil end
	local spans = {}
	add_words(spans, type, addresses, offsets(py, type.kind))
	if type.kind == "generator" then
		add_generators(py, spans, type, addresses)
	elseif type.kind == "frame" then
		(py.layout.interpreter_frames and add_owned_frames or add_variables)(py, spans, addresses)
	end
	return spans
end

return owned
