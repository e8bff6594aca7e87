-- chain.lua: chains of buffers: the contents of each link, the total, and whether the chain ends.
--
--	ngx_chain_t { buf, next } → ngx_buf_t { start ≤ pos ≤ last ≤ end, file_pos … file_last, flags, tag: the module that made it }
--
-- The contents of a buffer are in memory if it is temporary, memory or mmap, even if a file also has them. A buffer
-- that is neither in memory nor in a file only carries flags (ngx_buf.h). `start` and `end` are valid for temporary
-- buffers; read-only memory keeps the values of the buffer's previous use. Links are reused: a link that was freed
-- too early appears twice in a chain.
local xcore = require "xcore"
local args = require "lib.args"
local cycle = require "nginx.cycle"
local damage = require "lib.damage"
local maybe = require "lib.maybe"
local str = require "nginx.str"

local chain = {}

local MOST, SHOWN, LIMIT, LONGEST = 1000000, 40, 1000, 1 << 20

local FIELDS = { "pos", "last", "start", "end", "file_pos", "file_last", "temporary", "memory", "mmap", "in_file", "flush", "sync",
	"last_buf", "last_in_chain", "recycled", "last_shadow", "temp_file", "tag", "shadow" }
local KINDS, FLAGS = { "temporary", "memory", "mmap" },
	{ "flush", "sync", "last_buf", "last_in_chain", "recycled", "last_shadow", "temp_file" }

-- ---- one buffer ----

-- Columns of xcore.gather as one buffer: {memory, file, size, in_memory, flags, why}; nil if it cannot be read.
local function buffer_at(columns, i)
	local one = {}
	for _, name in ipairs(FIELDS) do
		one[name] = columns[name][i]
		if one[name] == false then return nil end
	end
	one.in_memory = one.temporary + one.memory + one.mmap > 0
	if one.in_memory then one.bytes = one.last - one.pos end
	if one.in_file ~= 0 then one.file = one.file_last - one.file_pos end
	local own = one.temporary ~= 0 and one.start ~= 0
	if own then one.size, one.passed = one["end"] - one.start, one.pos - one.start end
	local outside = own and (one.pos < one.start or one.last > one["end"])
	if (one.bytes or 0) < 0 or (one.file or 0) < 0 or outside then one.why = "its pointers are not in order" end
	return one
end

-- The bytes of a buffer in memory, at most `max`; with `passed`, also those before `pos`, which were already passed
-- on.
local function text_of(t, buf, max, passed)
	if not buf.in_memory or buf.why then return nil end
	local from = passed and buf.passed and buf.start or buf.pos
	return buf.last > from and t:read(from, math.min(buf.last - from, max)) or nil
end

-- Is this likely to be a buffer: does it have contents, in mapped memory?
local function is_buffer(t, buf)
	if not buf or buf.why then return false end
	if buf.in_memory then return t:readable(buf.pos, 1) == 1 end
	return buf.in_file + buf.flush + buf.sync + buf.last_buf + buf.last_in_chain > 0
end

-- ---- a chain ----

-- Why a chain does not end properly, from the target of its last link; nil if it does.
local function flaw(columns, count, why)
	local next = columns.next[count]
	if not why and (not next or next == 0) then return nil end
	for i = 1, count do
		if columns[1][i] == next then return ("link %d leads back to link %d"):format(count, i) end
	end
	return why or ("it continues at %s"):format(xcore.hex(next))
end

-- The links from `head`, an ngx_chain_t *: {{link, buf, value}…}, value nil for an unreadable buffer; and the reason
-- of an improper end.
local function links(head)
	local columns, count, why = xcore.follow(head, "next", { "buf", "next" }, { partial = true, addresses = true, max = MOST })
	local buffers, found = xcore.gather("ngx_buf_t", columns.buf, FIELDS, { partial = true }), {}
	for i = 1, count do found[i] = { link = columns[1][i], buf = columns.buf[i], value = buffer_at(buffers, i) } end
	return found, flaw(columns, count, why)
end

-- The contents of a chain: {links, bytes, file, bad, why}: bytes in memory and in files, number of damaged buffers.
function chain.of(head)
	local found, why = links(head)
	local all = { links = found, bytes = 0, file = 0, bad = 0, why = why }
	for _, one in ipairs(found) do
		local buf = one.value
		if buf and not buf.why then
			all.bytes = all.bytes + (buf.bytes or 0)
			all.file = all.file + (not buf.in_memory and buf.file or 0)
		else
			all.bad = all.bad + 1
		end
	end
	return all
end

-- ---- the command ----

local function names_of(buf, names)
	local set = {}
	for _, name in ipairs(names) do
		if buf[name] ~= 0 then set[#set + 1] = name end
	end
	return #set > 0 and table.concat(set, " ") or nil
end

local function where(buf)
	local parts = { names_of(buf, KINDS), buf.in_file ~= 0 and "file" or nil }
	return #parts > 0 and table.concat({ parts[1] or "", parts[2] or "" }, " "):match "^%s*(.-)%s*$" or "flags only"
end

local function file_of(buf)
	local file = maybe.get(buf, "file")
	return file and str.try(maybe.get(file, "name"), 256)
end

local COLUMNS = { { "link", "count", label = "#" }, { "where", "text" }, { "bytes", "bytes", label = "IN MEMORY" },
	{ "in_file", "bytes", label = "IN FILE" }, { "passed", "bytes", label = "PASSED ON" }, { "size", "bytes" }, { "flags", "text" }, { "module", "text", label = "MADE BY" },
	{ "text", "text", label = "BEGINS WITH", secret = true }, { "pos", "address", verbose = true }, { "file_pos", "integer", verbose = true },
	{ "file", "text", verbose = true }, { "address", "address", verbose = true }, { "buffer", "address", label = "BUFFER AT" } }

local function modules_of(t)
	local names = {}
	for _, module in ipairs(damage.try(cycle.modules, t) or {}) do names[module.addr] = module.name end
	return names
end

local function add_rows(t, section, found, limit)
	local rows, modules = section:table("buffers", COLUMNS), modules_of(t)
	for i = 1, math.min(#found, limit) do
		local one, buf = found[i], found[i].value
		if buf then
			local sound = buf.why and {} or buf
			rows:row(i, where(buf), sound.bytes, sound.file, sound.passed, sound.size, names_of(buf, FLAGS), modules[buf.tag] or xcore.symbol(buf.tag), (damage.try(text_of, t, buf, SHOWN)), buf.pos, buf.in_file ~= 0 and buf.file_pos or nil,
				buf.in_file ~= 0 and damage.try(file_of, t:value("ngx_buf_t", one.buf)) or nil, one.link, one.buf)
		else
			rows:row(i, "cannot be read", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, one.link, one.buf)
		end
	end
	if #found > limit then section:note(("%d more buffers"):format(#found - limit), "--limit N shows more") end
end

-- Shows all bytes in memory, buffer after buffer.
local function add_text(t, section, found, passed)
	local parts, left = {}, LONGEST
	for _, one in ipairs(found) do
		local text = one.value and left > 0 and damage.try(text_of, t, one.value, left, passed)
		if text then parts[#parts + 1], left = text, left - #text end
	end
	section:lines("text", (table.concat(parts):gsub("\r\n", "\n")), { secret = true })
	if left == 0 then section:note(("only the first %d bytes of text are shown"):format(LONGEST)) end
end

local function add_damage(section, all)
	for i, one in ipairs(all.links) do
		local why = not one.value and "cannot be read" or one.value.why
		if why then
			section:problem(("the buffer of link %d, %s: %s"):format(i, xcore.hex(one.buf), why))
			break
		end
	end
	if all.bad > 1 then
		section:note(("%d of %d buffers are damaged: the sums exclude them"):format(all.bad, #all.links))
	end
	if all.why then section:problem("the chain does not end: " .. all.why) end
end

-- An address from the user may be that of a buffer: a chain of this buffer.
local function head_of(t, addr)
	local all = chain.of(xcore.cast(addr, "ngx_chain_t *"))
	if all.links[1] and is_buffer(t, all.links[1].value) then return all end
	local one = xcore.gather("ngx_buf_t", { addr }, FIELDS, { partial = true })
	local buf = buffer_at(one, 1)
	if is_buffer(t, buf) then
		return { links = { { buf = addr, value = buf } }, bytes = buf.bytes or 0, file = not buf.in_memory and buf.file or 0, bad = 0 }, true
	end
	if #all.links == 0 then
		error(xcore.error("not_found", "there is no chain at " .. xcore.hex(addr),
			"nginx.req shows the chains of a request"))
	end
	return all
end

function chain.chain(t, report, given)
	local options = args.parse(given, { limit = "number", text = "flag", passed = "flag" }, 1)
	local addr = options[1] and args.number("chain", options[1])
	if not addr then
		error(xcore.error("usage", "which chain?",
			"nginx.chain TARGET ADDRESS; nginx.req shows the chains of a request"))
	end
	local all, single = head_of(t, addr)
	local section = report:section("chain", ("nginx: %s %s"):format(single and "buffer" or "chain", xcore.hex(addr)))
	section:headline(("%d %s, %d bytes in memory, %d in files"):format(#all.links, #all.links == 1 and "buffer" or "buffers", all.bytes, all.file))
	section:count("buffers", #all.links, { quiet = true })
	section:bytes("memory", all.bytes, { quiet = true })
	section:bytes("file", all.file, { quiet = true })
	section:count("damaged", all.bad, { quiet = true })
	add_damage(section, all)
	add_rows(t, section, all.links, options.limit or LIMIT)
	if options.text or options.passed then add_text(t, section, all.links, options.passed) end
end

return chain
