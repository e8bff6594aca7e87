-- same: data that must be identical in a stopped process and its core, byte for byte. Excluded: registers, including
-- saved ones (a running process shows only pc and sp of blocked threads), states, and mappings that the writer of the
-- core omitted.
local xcore = require "xcore"

local function tell_memory(t, report)
	local s = report:section("memory", "Memory")
	local marked, list = t:ref "marked", t:var "head"
	s:address("marked", xcore.addr(marked))
	s:text("text", xcore.str(t:var "marked"))
	s:text("bytes", t:read(xcore.addr(marked), 8))
	s:value("first", list)
	s:value("table", t:var "table")
	s:text("call", xcore.symbol(list.call))
	local sizes, heaviest = xcore.histogram { scale = "linear", width = 7.5 }, xcore.top(3)
	local rows = s:table("nodes", { { "at", "address" }, { "name", "text" }, { "big", "count" }, { "color", "text" } })
	local node = list
	while node do
		sizes:add(node.weight)
		heaviest:add(node.weight, node)
		if node.flags == 7 then rows:row(node, xcore.str(node.name), node.big, xcore.enum(node, "color")) end
		node = node.next
	end
	s:histogram("weights", sizes)
	for i, top in ipairs(heaviest:items()) do s:value("heaviest_" .. i, top.item) end
	local columns, count = xcore.follow(list, "next", { "big", "weight", "odd" }, { addresses = true })
	s:count("followed", count)
	for i = 1, count, 333 do print(columns[1][i], xcore.u64(columns.big[i]), columns.weight[i], columns.odd[i]) end
end

local function tell_finds(t, report)
	local s = report:section("finds", "What was found")
	local tree = s:tree("nodes", { unit = "nodes" })
	local function each(name, what)
		local list = {}
		for at in t:find(what) do list[#list + 1] = xcore.hex(at) end
		s:lines(name, table.concat(list, "\n"))
	end
	each("strings", { bytes = "needle-of-the-same", writable = true })
	each("nodes", { signature = { "struct node", { big = { -1000, -990 }, color = "GREEN", next = "pointer" } }, writable = true })
	local first = xcore.addr(t:var "head")
	each("pointers", { pointer_to = { first, first }, within = { { xcore.addr(t:ref "head"), xcore.addr(t:ref "head") + 7 } } })
	for node in xcore.retry(function() return require "lib.walk".list(t:var "head", "next") end) do
		tree:add({ xcore.enum(node, "color"), tostring(node.flags) }, 1)
	end
end

local function tell_facts(t, report)
	local s = report:section("facts", "Facts")
	print(t.pid, t.exe, t.comm, t.args, t.arch, t.pointer_size, t.endian)
	for _, m in ipairs(t:modules()) do
		print(m.path, m.name, m.kind, xcore.hex(m.lo), xcore.hex(m.hi), m.bias, m.build_id, m.file, m.identity, m.why)
	end
	for _, m in ipairs(t:maps()) do
		if m.writable then print(xcore.hex(m.lo), xcore.hex(m.hi), m.path, m.shared, m.executable) end
	end
	for _, thread in ipairs(t:threads()) do
		local frames = thread:frames()
		s:integer("thread_" .. thread.tid, #frames)
		print(thread.tid)
		for _, f in ipairs(frames) do print(f, f.module, f.offset, f.inlined, f.signal) end
	end
	local kinds = {}
	for _, m in ipairs(t:modules()) do kinds[m.path] = m.kind end
	for path, kind in pairs(kinds) do print(path, kind) end
	local ok, err = pcall(function() return xcore.cast(8, "struct node *").big end)
	s:text("fault", err.kind .. ": " .. err.message)
	s:text("symbolized", t:symbolize(xcore.addr(t:var "head".call)).text)
	s:bool("caught", not ok)
end

return {
	name = "same",
	about = "what a core and a stopped process tell alike",
	match = { symbols = { "marked", "wait_here" } },
	analyze = function(t, report)
		tell_memory(t, report)
		tell_finds(t, report)
		tell_facts(t, report)
	end,
	commands = {
		memory = { about = "values and lists", run = tell_memory },
		finds = { about = "searches", run = tell_finds },
		facts = { about = "modules, mappings, threads", run = tell_facts },
	},
	flames = {
		colors = {
			about = "nodes by color",
			run = function(t, tree)
				local node = t:var "head"
				while node do
					tree:add({ xcore.enum(node, "color"), tostring(node.flags) }, node.big)
					node = node.next
				end
			end,
		},
	},
}
