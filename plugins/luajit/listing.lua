-- listing: the bytecode of functions, an instruction among its neighbours, and prototypes by file and line or by an
-- address in their code.
local xcore = require "xcore"
local bytecode = require "luajit.bytecode"
local layout = require "luajit.layout"
local name = require "luajit.name"
local object = require "luajit.object"
local commands = require "luajit.commands"
local number = require("lib.args").number
local proto = require "luajit.proto"

local listing = {}

local function find_prototypes(vm)
	local list, chunk = {}, "chunkname." .. vm.layout.ref
	object.from_list(vm, { [layout.PROTO] = { "sizebc", "firstline", chunk } }, function(_, addresses, columns)
		for i, addr in ipairs(addresses) do
			local pt = vm.t:value("GCproto", addr)
			local lo = proto.code(pt)
			list[#list + 1] = {
				pt = pt,
				lo = lo,
				hi = lo + 4 * columns.sizebc[i],
				line = columns.firstline[i],
				chunk = columns[chunk][i],
			}
		end
	end, layout.PROTO)
	return list
end

-- All prototypes, found once: { pt, lo, hi (exclusive, of the code), line, chunk (address of its name) }.
function listing.prototypes(vm)
	vm.prototypes = vm.prototypes or find_prototypes(vm)
	return vm.prototypes
end

-- The prototype whose code contains an address, and the instruction's position; nil if there is none.
function listing.holding(vm, addr)
	for _, one in ipairs(listing.prototypes(vm)) do
		local pos = addr >= one.lo and addr < one.hi and proto.position(one.pt, addr & ~3)
		if pos then return one.pt, pos end
	end
end

-- The same for the copy that a trace keeps of the replaced instruction: the interpreter continues from it after the
-- trace.
function listing.replaced(vm, addr)
	for _, one in ipairs(require("luajit.trace").all(vm)) do
		local at, pt = xcore.addr(one.trace, "startins"), one.trace.startpt[vm.layout.ref]
		if addr >= at and addr <= at + 4 and pt ~= 0 then
			local of = vm.t:value("GCproto", pt)
			return of, proto.position(of, one.trace.startpc[vm.layout.mref]), one.number
		end
	end
end

-- Prototypes defined in a file (its end is enough) at a line; and the lines of other prototypes in that file.
function listing.at(vm, file, line)
	local found, matches, others = {}, {}, {}
	for _, one in ipairs(listing.prototypes(vm)) do
		if matches[one.chunk] == nil then
			local ok, name = pcall(vm.string, vm, one.chunk, 4096)
			name = ok and name:gsub("^[@=]", "") or ""
			matches[one.chunk] = name == file or name:sub(-#file - 1) == "/" .. file
		end
		if matches[one.chunk] and one.line == line then
			found[#found + 1] = one.pt
		elseif matches[one.chunk] then
			others[#others + 1] = one.line
		end
	end
	return found, others
end

-- The nearest of some lines, as text.
local function nearest(lines, line)
	table.sort(lines, function(a, b)
		local da, db = math.abs(a - line), math.abs(b - line)
		return da < db or da == db and a < b
	end)
	local near = table.move(lines, 1, math.min(5, #lines), 1, {})
	table.sort(near)
	return #near > 0 and "functions begin at lines "
		.. table.concat(near, ", ") or "LINE is the line of the word `function`, 0 for a main chunk"
end

-- The prototypes that an argument names: FILE:LINE, the address of a function or of a prototype, a path to a
-- function.
function listing.named(vm, text)
	local file, line = text:match "^(.+):(%d+)$"
	if file then
		line = math.tointeger(tonumber(line))
		local found, others = listing.at(vm, file, line)
		if #found > 0 then return found end
		error(xcore.error("not_found", ("no function is defined at %s"):format(text),
			vm.damages and "the list of objects is damaged and was read only partly" or nearest(others, line)))
	end
	local addr = math.tointeger(tonumber(text))
	if not addr then
		local protos = require("luajit.func").find(vm, text)
		if not protos then error(xcore.error("usage", text .. " is a C function: it has no bytecode")) end
		return { vm.t:value("GCproto", protos[1]) }
	end
	local gct = vm.t:readable(addr, 16) == 16 and vm.t:value("GChead", addr).gct
	if gct == layout.PROTO then return { vm.t:value("GCproto", addr) } end
	if gct == layout.FUNCTION then
		local fn = vm.t:value("GCfuncL", addr)
		if fn.ffid == 0 then return { vm:proto_of(fn) } end
		error(xcore.error("not_found", ("the function at %s is a C function: it has no bytecode"):format(text)))
	end
	error(xcore.error("not_found", ("%s is neither a function nor in the bytecode of one"):format(text)))
end

-- Is there a prototype, or a Lua function? Bytecode may look like the head of an object: a prototype's constants are
-- after its own code.
local function is_function(vm, addr)
	local ok, is = pcall(function()
		local gct = vm.t:value("GChead", addr).gct
		if gct ~= layout.FUNCTION and gct ~= layout.PROTO then return false end
		local pt = gct == layout.PROTO and vm.t:value("GCproto", addr) or vm:proto_of(vm.t:value("GCfuncL", addr))
		local constants = pt.k[vm.layout.mref]
		return pt.gct == layout.PROTO
			and constants >= proto.code(pt) + 4 * pt.sizebc
			and constants <= xcore.addr(pt) + pt.sizept
	end)
	return ok and is
end

-- ---- bc ----

local MOST, AROUND = 10000, 8 -- instructions of a function; before and after one

local COLUMNS = {
	{ "here", "text", label = "" }, { "position", "integer", label = "#" }, { "mark", "text", label = "" }, { "op", "text" }, { "operands", "text" },
	{ "what", "text", secret = true }, { "line", "integer" }, { "address", "address", verbose = true }, { "word", "integer", verbose = true },
}

local function jump_targets(code)
	local targets = {}
	for pos = 0, code.count - 1 do
		local ins = code:at(pos)
		local target = bytecode.target(pos, ins)
		if target then targets[target] = true end
	end
	return targets
end

-- The instruction that a trace replaced.
local function original(vm, code, ins)
	if not ins.name:match "^J[FIL]" or ins.name == "JFORI" then return nil end
	local one = require("luajit.trace").get(vm, ins.d)
	if not one then return nil end
	local before = bytecode.decode(code.names, one.startins)
	return ("trace %d, before: %s"):format(ins.d, before.name)
end

-- Rows between two positions; "=>" marks targets of jumps, "->" the requested instruction.
local function add_rows(vm, section, code, from, to, here)
	local rows, targets = section:table("bytecode", COLUMNS), jump_targets(code)
	local none = next(targets) and "" or nil
	for pos = from, to do
		local ins = code:at(pos)
		local text, what = code:operands(pos, ins)
		rows:row(here and (pos == here and "->" or ""), pos, targets[pos] and "=>" or none, ins.name, text, what or original(vm, code, ins),
			proto.line(vm, code.pt, pos), code.begin + 4 * pos, ins.word)
	end
end

local function add_code(vm, section, pt, limit)
	local code = bytecode.of(vm, pt)
	section:address("proto", pt)
	section:count("parameters", pt.numparams)
	section:count("slots", pt.framesize)
	add_rows(vm, section, code, 0, math.min(code.count, limit) - 1)
	if code.count > limit then
		section:note(("%d more instructions"):format(code.count - limit), "--limit N shows more")
	end
end

-- One instruction, and some before and after it.
local function add_instruction(vm, section, pt, pos, around)
	local code = bytecode.of(vm, pt)
	local ins = code:at(pos)
	if not ins then
		error(xcore.error("usage", ("the function at %s has no instruction %d"):format(name.place(vm, pt), pos),
			("instructions are 0 to %d"):format(code.count - 1)))
	end
	local text, what = code:operands(pos, ins)
	section:text("function", name.place(vm, pt))
	section:text("file", (proto.source(vm, pt)))
	section:integer("line", proto.line(vm, pt, pos))
	section:integer("position", pos)
	section:address("address", code.begin + 4 * pos)
	section:text("instruction", (ins.name .. " " .. text:gsub("%s+", " "):gsub("^ ", "")))
	section:text("what", what or original(vm, code, ins), { label = "that is", secret = true })
	section:address("proto", pt, { label = "prototype" })
	add_rows(vm, section, code, math.max(0, pos - around), math.min(code.count - 1, pos + around), pos)
	section:note "a PC saved in a register or a frame points past the executing instruction, which is the previous one"
end

-- Prototypes that an argument names, and the position if it is an address in bytecode; and the trace that keeps the
-- copy there.
local function chosen(vm, text)
	local addr = math.tointeger(tonumber(text))
	if not addr or is_function(vm, addr) then return listing.named(vm, text) end
	local pt, pos, number = listing.holding(vm, addr)
	if not pt then pt, pos, number = listing.replaced(vm, addr) end
	if not pt then return listing.named(vm, text) end
	return { pt }, pos, number
end

local function title(vm, pt, pos)
	if pos then return ("instruction %d of the function at %s"):format(pos, name.place(vm, pt)) end
	return ("%s, lines %d to %d"):format(proto.source(vm, pt), pt.firstline, pt.firstline + pt.numline)
end

-- luajit.bc FILE:LINE|ADDR|PATH [POSITION] [--limit N]
function listing.bc(t, report, args)
	local vm, parsed = commands.options(t, args, { limit = "number" }, 2)
	if not parsed[1] then
		error(xcore.error("usage", "name a function or an instruction",
			"bc FILE:LINE, its address, or a path to it: app.serve; then the number of an instruction"))
	end
	local protos, pos, copied = chosen(vm, parsed[1])
	if parsed[2] then pos = number("position", parsed[2]) end
	for number, pt in ipairs(protos) do
		local section = report:section(number == 1 and "bc" or "bc_" .. number, title(vm, pt, pos))
		if pos then
			add_instruction(vm, section, pt, pos, parsed.limit or AROUND)
		else
			add_code(vm, section, pt, parsed.limit or MOST)
		end
		if copied then
			section:note(("trace %d has replaced this instruction; the address is that of the trace's copy of it"):format(
				copied))
		end
		if number == #protos then vm:tell(section) end
	end
end

return listing
