-- Prototypes: the compiled form of a function: source, lines, names of locals and upvalues (lj_debug.c, lj_bcread.c).
local xcore = require "xcore"

local proto = {}

local MAX_VARINFO = 1 << 20 -- bytes; of one function in real programs at most some thousand

-- Bytecode follows the GCproto; positions in it ("pc") count instructions from 0, the function's header.
function proto.code(pt)
	return xcore.addr(pt) + xcore.sizeof "GCproto"
end

-- The position of an address in the bytecode; nil if it is outside: then a trace has returned there.
function proto.position(pt, addr)
	local offset = addr - proto.code(pt)
	if offset < 0 or offset >= pt.sizebc * 4 or offset & 3 ~= 0 then return nil end
	return offset >> 2
end

-- The name of the chunk in Lua's format: "file.lua", "[string \"…\"]"; and whether it is a file.
function proto.source(vm, pt)
	local name = vm:string(pt.chunkname[vm.layout.ref])
	local first = name:sub(1, 1)
	if first == "@" then return name:sub(2), true end
	if first == "=" then return name:sub(2), false end
	local line = name:match "^[^\r\n]*"
	if #line > 40 or #line < #name then line = line:sub(1, 40) .. "..." end
	return ('[string "%s"]'):format(line), false
end

-- The line of a position: nil if the chunk was stripped.
--
-- lineinfo has an item for each instruction except the header, relative to firstline, of 1, 2 or 4 bytes depending on
-- the number of lines.
function proto.line(vm, pt, pos)
	local info, first, count = pt.lineinfo[vm.layout.mref], pt.firstline, pt.numline
	if info == 0 or pos > pt.sizebc then return nil end
	if pos == pt.sizebc then return first + count end
	if pos == 0 then return first end
	local index = pos - 1
	if count < 256 then return first + vm.t:u8(info + index) end
	if count < 65536 then return first + vm.t:u16(info + 2 * index) end
	return first + vm.t:u32(info + 4 * index)
end

local INTERNAL = { "(for index)", "(for limit)", "(for step)", "(for generator)", "(for state)", "(for control)" }

local function uleb(bytes, at)
	local value, shift, byte = 0, 0, nil
	repeat
		byte = bytes:byte(at)
		if not byte or shift > 28 then return nil end
		value, shift, at = value | (byte & 0x7f) << shift, shift + 7, at + 1
	until byte < 0x80
	return value, at
end

-- The locals in scope at a position: { slot =, name = } in the order of their slots, from 0.
--
-- varinfo: name (NUL-terminated, or one byte for a name that the compiler gave), ULEB of the start relative to the
-- previous one, ULEB of the length of its lifetime; in the order of starts. Slots are not stored: a local has the
-- first slot after the live ones.
function proto.locals(vm, pt, pos)
	local info, list, at, start = pt.varinfo[vm.layout.mref], {}, 1, 0
	if info == 0 then return list end
	local last = xcore.addr(pt) + pt.sizept
	if info >= last or last - info > MAX_VARINFO then return list end
	local bytes = vm.t:read(info, last - info)
	while true do
		local kind, name = bytes:byte(at), nil
		if not kind or kind == 0 then return list end
		if INTERNAL[kind] then
			name, at = INTERNAL[kind], at + 1
		else
			local ending = bytes:find("\0", at, true)
			if not ending then return list end
			name, at = bytes:sub(at, ending - 1), ending + 1
		end
		local delta, length
		delta, at = uleb(bytes, at)
		if not delta then return list end
		start = start + delta
		length, at = uleb(bytes, at)
		if not length or start > pos then return list end
		if pos < start + length then list[#list + 1] = { slot = #list, name = name } end
	end
end

-- Names of upvalues, in order, from 1.
function proto.upvalues(vm, pt)
	local info, names = pt.uvinfo[vm.layout.mref], {}
	local last = xcore.addr(pt) + pt.sizept
	if info == 0 or info >= last then return names end
	local bytes = vm.t:read(info, last - info)
	for name in bytes:gmatch "([^\0]*)\0" do
		if #names == pt.sizeuv then break end
		names[#names + 1] = name
	end
	return names
end

return proto
