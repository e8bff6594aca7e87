-- tell.lua: what a program says of itself in an account: JSON, values, the frames of coroutines. Given inside.so's functions, it returns
-- write(what, fields), told(value) and frames_of(thread, level).
local ffi = require("ffi")
local inside = ...

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }

local function quoted(text)
	return '"' .. text:gsub('[%z\1-\31"\\\127-\255]', function(c)
		return escapes[c] or ("\\u%04x"):format(c:byte())
	end) .. '"'
end

-- Tables with [1] or no key at all are arrays; keys are sorted, so that two runs can be compared.
local function encode(value)
	if type(value) == "table" then
		local parts = {}
		if value[1] ~= nil or next(value) == nil then
			for i, item in ipairs(value) do parts[i] = encode(item) end
			return "[" .. table.concat(parts, ",") .. "]"
		end
		for key, item in pairs(value) do parts[#parts + 1] = quoted(key) .. ":" .. encode(item) end
		table.sort(parts)
		return "{" .. table.concat(parts, ",") .. "}"
	elseif type(value) == "string" then
		return quoted(value)
	elseif type(value) == "number" then
		return ("%.17g"):format(value)
	end
	return tostring(value)
end

local function write(what, fields)
	fields.what = what
	inside.write(encode(fields))
end

-- A value as text: what it is and, of an object, where. Bytes are written as the characters U+0000 to U+00FF.
local function told(value)
	local kind = type(value)
	local out = { type = kind }
	if kind == "number" then
		out.value = ("%.17g"):format(value)
	elseif kind == "boolean" then
		out.value = tostring(value)
	elseif kind == "string" then
		out.value, out.length = value:sub(1, 200), #value
	elseif kind == "cdata" then
		out.value = tostring(ffi.typeof(value))
	end
	out.addr = inside.address(value)
	return out
end

local function named(get)
	local out, i = {}, 1
	while true do
		local name, value = get(i)
		if not name then return out end
		if name:sub(1, 2) ~= "(*" then
			local one = told(value)
			one.name = name
			out[#out + 1] = one
		end
		i = i + 1
	end
end

local function varargs(thread, level)
	local out, i = {}, 1
	while true do
		local name, value = debug.getlocal(thread, level, -i)
		if not name then return out end
		out[i], i = told(value), i + 1
	end
end

-- One frame; names as debug.getinfo says them, values as debug.getlocal does.
local function frame_of(thread, level)
	local info = debug.getinfo(thread, level, "nSluf")
	if not info then return nil end
	local frame = {
		func = inside.address(info.func), kind = info.what, source = info.source, short = info.short_src, line = info.currentline,
		defined = info.linedefined, name = info.name, namewhat = info.namewhat,
	}
	if info.what ~= "C" then
		frame.locals = named(function(i) return debug.getlocal(thread, level, i) end)
		frame.varargs = varargs(thread, level)
	end
	frame.upvalues = named(function(i) return debug.getupvalue(info.func, i) end)
	return frame
end

local function frames_of(thread, level)
	local frames = {}
	while true do
		local frame = frame_of(thread, level)
		if not frame then return frames end
		frames[#frames + 1], level = frame, level + 1
	end
end

return { encode = encode, write = write, told = told, frames_of = frames_of }
