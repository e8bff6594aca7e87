-- listing: the bytecode of functions, and prototypes by file and line.
local xcore = require "xcore"
local bytecode = require "luajit.bytecode"
local commands = require "luajit.commands"
local layout = require "luajit.layout"
local proto = require "luajit.proto"

local listing = {}

local BATCH = 65536

-- All prototypes: { pt, lo, hi (exclusive, of the code), line, chunk (address of its name) }.
function listing.prototypes(vm)
	local list, next, head = {}, vm.layout.next, vm.g.gc.root[vm.layout.ref]
	while head and head ~= 0 do
		local columns, count, why = xcore.follow(vm.t:value("GChead", head), next, { "gct" }, { addresses = true, partial = true, max = BATCH })
		local gct, addresses, found = columns.gct, columns[1], {}
		for i = 1, count do
			if gct[i] == layout.PROTO then found[#found + 1] = addresses[i] end
		end
		local c = xcore.gather("GCproto", found, { "sizebc", "firstline", "chunkname." .. vm.layout.ref }, { partial = true })
		for i, addr in ipairs(found) do
			if c.sizebc[i] then
				local pt = vm.t:value("GCproto", addr)
				local lo = proto.code(pt)
				list[#list + 1] = { pt = pt, lo = lo, hi = lo + 4 * c.sizebc[i], line = c.firstline[i], chunk = c["chunkname." .. vm.layout.ref][i] }
			end
		end
		if count < BATCH then
			if why then vm:damaged(addresses[count] or head, why) end
			break
		end
		head = vm.t:value("GChead", addresses[count]).nextgc[vm.layout.ref]
	end
	return list
end

-- Prototypes that are defined in a file (its end is enough) at a line; and the lines at which others of that file are.
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
	return #near > 0 and "functions begin at lines " .. table.concat(near, ", ") or "the line of the word `function` is wanted, 0 for a main chunk"
end

-- The prototypes that an argument names: FILE:LINE, the address of a function or of a prototype, a path to a function.
function listing.named(vm, text)
	local file, line = text:match "^(.+):(%d+)$"
	if file then
		line = math.tointeger(tonumber(line))
		local found, others = listing.at(vm, file, line)
		if #found > 0 then return found end
		error(xcore.error("not_found", ("no function is defined at %s"):format(text), vm.damages and "the list of objects is damaged, it was read only in part" or nearest(others, line)))
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
		error(xcore.error("not_found", ("the function at %s is C's: it has no bytecode"):format(text)))
	end
	error(xcore.error("not_found", ("there is no function at %s"):format(text)))
end

-- ---- bc ----

local COLUMNS = {
	{ "position", "integer", label = "#" }, { "mark", "text" }, { "op", "text" }, { "operands", "text" }, { "what", "text", secret = true },
	{ "line", "integer" }, { "word", "integer", verbose = true },
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

-- What an instruction was before a trace replaced it.
local function original(vm, code, ins)
	if not ins.name:match "^J[FIL]" or ins.name == "JFORI" then return nil end
	local one = require("luajit.trace").get(vm, ins.d)
	if not one then return nil end
	local before = bytecode.decode(code.names, one.startins)
	return ("trace %d, before: %s"):format(ins.d, before.name)
end

local function add_code(vm, section, pt, limit)
	local code = bytecode.of(vm, pt)
	local rows, targets = section:table("bytecode", COLUMNS), jump_targets(code)
	for pos = 0, code.count - 1 do
		if pos >= limit then
			section:note(("%d more instructions"):format(code.count - pos), "--limit N shows more")
			break
		end
		local ins = code:at(pos)
		local text, what = code:operands(pos, ins)
		rows:row(pos, targets[pos] and "=>" or nil, ins.name, text, what or original(vm, code, ins), proto.line(vm, pt, pos), ins.word)
	end
end

function listing.bc(t, report, args)
	local limit, list = 10000, {}
	local vm, rest = commands.parse(t, args)
	local i = 1
	while i <= #rest do
		if rest[i] == "--limit" then
			limit = math.tointeger(tonumber(rest[i + 1] or "")) or error(xcore.error("usage", "--limit: a number is wanted"))
			i = i + 1
		else
			list[#list + 1] = rest[i]
		end
		i = i + 1
	end
	if #list ~= 1 then error(xcore.error("usage", "a function is wanted", "bc FILE:LINE, its address, or a path to it: app.serve")) end
	for number, pt in ipairs(listing.named(vm, list[1])) do
		local source = proto.source(vm, pt)
		local section = report:section(number == 1 and "bc" or "bc_" .. number, ("%s, lines %d to %d"):format(source, pt.firstline, pt.firstline + pt.numline))
		section:address("proto", pt)
		section:count("parameters", pt.numparams)
		section:count("slots", pt.framesize)
		add_code(vm, section, pt, limit)
	end
end

return listing
