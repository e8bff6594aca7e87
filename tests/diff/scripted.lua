-- All stacks with arguments and locals as JSON, using only the API for scripts: every number is read by indexing, every
-- struct is split by its type's members. The form is that of `xcore bt --full --raw --format json`, as far as
-- compare.py reads it.
local xcore = require "xcore"
local t = xcore.target

local DEPTH, ELEMENTS = 4, 8

local function quoted(text)
	return '"' .. text:gsub('[%c"\\\x7f-\xff]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

local function json(value)
	if value == nil then return "null" end
	if type(value) == "string" then return quoted(value) end
	return tostring(value)
end

local integers = {int = true, char = true}

-- A scalar as returned by the API.
local function scalar(value, kind, shape)
	if kind == "pointer" then return value and xcore.hex(xcore.addr(value)) or "0x0" end
	if math.type(value) == "float" then return string.format("%.17g", value) end
	if integers[kind] and shape.size == 8 and not shape.signed then return xcore.u64(value) end
	if kind == "enum" then return xcore.enum(shape, value) or tostring(value) end
	return tostring(value)
end

local text

-- An unavailable member is replaced by the reason.
local function try(...)
	local ok, result = pcall(...)
	if ok then return result end
	if type(result) ~= "table" then error(result, 0) end
	return "<" .. result.message .. ">"
end

local function record(value, shape, depth)
	local parts = {}
	for _, member in ipairs(shape:members()) do
		if member.base or not member.name then
			local at = member.offset and try(xcore.addr, value)
			local part = math.type(at) == "integer" and try(t.value, t, member.type, at + member.offset)
			local prefix = member.base and "<" .. member.name .. "> = " or ""
			parts[#parts + 1] = prefix .. (part and text(part, member.type, depth + 1) or "<not in memory>")
		else
			parts[#parts + 1] = member.name .. " = " .. try(function()
				return text(value[member.name], member.type, depth + 1)
			end)
		end
	end
	return "{" .. table.concat(parts, ", ") .. "}"
end

local function array(value, shape, depth)
	local parts = {}
	for i = 0, math.min(shape.count or 0, ELEMENTS) - 1 do
		parts[#parts + 1] = try(function() return text(value[i], shape.target, depth + 1) end)
	end
	if (shape.count or 0) > ELEMENTS then parts[#parts + 1] = "..." end
	return "{" .. table.concat(parts, ", ") .. "}"
end

local records = {struct = true, class = true, union = true}

function text(value, declared, depth)
	local shape = declared:strip()
	local kind = shape.kind
	if type(value) == "string" then return value end
	if kind == "reference" then return xcore.fmt(value, {raw = true, depth = 3}) end
	if type(value) ~= "userdata" or kind == "pointer" then return scalar(value, kind, shape) end
	if depth >= DEPTH then return "{...}" end
	if kind == "array" then return array(value, shape, depth) end
	if records[kind] and not shape.name:find "::" and #shape:members() > 0 then return record(value, shape, depth) end
	return xcore.fmt(value, {raw = true, depth = 3})
end

local function variable(v)
	local fields = {name = v.name, type = v.type.name, why = v.why}
	if not v.why then
		fields.value = try(text, v.value, v.type, 0)
		if v.type:strip().kind == "reference" then fields.value = nil; fields.skip = true end
	end
	return string.format('{"name":%s,"type":%s,"value":%s,"why":%s,"skip":%s}', json(v.name), json(v.type.name),
		json(fields.value), json(v.why), json(fields.skip or false))
end

local function list(items, each)
	local out = {}
	for i, item in ipairs(items) do out[i] = each(item) end
	return "[" .. table.concat(out, ",") .. "]"
end

local function frame(f)
	return string.format(
		'{"index":%d,"pc":"%s","function":%s,"inline":%s,"signal":%s,"trust":%s,"module":%s,"offset":%s,"file":%s,"line":%s,"args":%s,"locals":%s}',
		f.index, xcore.hex(f.pc), json(f.name), f.inlined, f.signal, json(f.trust), json(f.module),
		json(f.offset and xcore.hex(f.offset)), json(f.file), json(f.line), list(f:args(), variable),
		list(f:locals(), variable))
end

for _, thread in ipairs(t:threads()) do
	local frames, why = thread:frames(400)
	print(string.format('{"tid":%d,"name":%s,"crashed":%s,"stop":%s,"frames":%s}', thread.tid, json(thread.name),
		thread.crashed, json(why), list(frames, frame)))
end
