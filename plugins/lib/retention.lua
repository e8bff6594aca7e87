-- retention: tables about a finished xcore.graph, for plugins of language run-times: which object keeps which alive.
-- The plugin supplies functions that name objects and references; each may return nil if the name is unknown.
local retention = {}

local HOLDERS = 20 -- maximum number of references shown for one object

-- Bytes of objects that no root reaches.
function retention.garbage(g)
	local bytes = 0
	for _, kind in ipairs(g:kinds()) do bytes = bytes + kind.unreached_bytes end
	return bytes
end

-- Adds the totals, of `bytes` overall; returns the bytes reached from roots, at least 1, as the base of shares.
function retention.totals(section, g, bytes)
	local garbage = retention.garbage(g)
	section:bytes("reached", bytes - garbage, { label = "reached from roots" })
	section:bytes("garbage", garbage, { label = "garbage, not yet freed" })
	return math.max(bytes - garbage, 1)
end

-- The first `limit` of a list of g:top by what they retain. path(addr) is the path to one, by_path the command that
-- shows it in full.
function retention.objects(section, list, limit, reached, path, by_path)
	local rows = section:table("objects", {
		{ "retained", "bytes" }, { "share", "ratio" }, { "objects", "count" }, { "type", "text" }, { "address", "address" },
		{ "path", "text", secret = true },
	})
	for i = 1, math.min(#list, limit) do
		local it = list[i]
		rows:row(it.retained, it.retained / reached, it.count, it.kind, it.addr, path(it.addr))
	end
	if #list > limit then
		section:note(("only the first %d are shown"):format(limit),
			"--limit N shows more; " .. by_path .. " ADDR shows one in full")
	end
end

function retention.kinds(section, g)
	local rows = section:table("types", {
		{ "type", "text" }, { "count", "count" }, { "bytes", "bytes" }, { "retained", "bytes" },
		{ "unreached", "count", label = "GARBAGE" }, { "unreached_bytes", "bytes", label = "ITS BYTES" },
	})
	for _, kind in ipairs(g:kinds()) do
		rows:row(kind.kind, kind.count, kind.bytes, kind.retained, kind.unreached, kind.unreached_bytes)
	end
end

-- Roots from g:roots(), in the order of the list.
function retention.roots(section, roots, reached)
	local rows = section:table("roots", {
		{ "root", "text" }, { "nearest", "bytes", label = "NEAREST TO IT" }, { "objects", "count" }, { "share", "ratio" },
		{ "alone", "bytes", label = "KEPT BY IT ALONE" },
	})
	for _, root in ipairs(roots) do
		rows:row(
			root.name or "several of them together",
			root.near_bytes,
			root.near_count,
			root.near_bytes and root.near_bytes / reached,
			root.bytes
		)
	end
end

-- ---- paths as text ----

-- A path as one line: "_G.app.users[17] → upvalue cache.items". Keys come directly after the object that they are
-- keys of; an empty label is left out.
function retention.join(first, labels)
	local text = first
	for _, step in ipairs(labels) do
		if step ~= "" then text = text .. (step:find "^[.%[]" and "" or " → ") .. step end
	end
	return text
end

-- The path to an object: that line, addresses, the label of each step, and the root, of(holder, addr, kind of the
-- holder). nil if no root reaches it.
function retention.path(g, addr, of)
	local nodes, root = g:path(addr)
	if not nodes then return nil end
	local labels = {}
	for i = 2, #nodes do
		local _, _, kind = g:find(nodes[i - 1])
		labels[i - 1] = of(nodes[i - 1], nodes[i], kind)
	end
	return retention.join(root, labels), nodes, labels, root
end

-- A line shortened for a table: its beginning and its end.
function retention.short(text, most)
	local length = utf8.len(text)
	if not length or length <= most then return text end
	local tail = most * 2 // 3
	return text:sub(1, utf8.offset(text, most - tail) - 1) .. "…" .. text:sub(utf8.offset(text, length - tail + 2))
end

-- ---- tables ----

-- An empty label belongs to a value without a name.
local function named(label)
	return label == "" and "value" or label
end

-- The chain from a root to an object: labels[i] leads from nodes[i] to the next node. describe(addr) describes an
-- object briefly.
function retention.steps(section, g, root, nodes, labels, describe)
	local rows = section:table("path", {
		{ "step", "text", secret = true }, { "object", "text", secret = true }, { "size", "bytes" }, { "retained", "bytes" }, { "address", "address" },
	})
	for i, addr in ipairs(nodes) do
		local _, size = g:find(addr)
		rows:row(named(i == 1 and root or labels[i - 1]), describe(addr), size, (g:retained(addr)), addr)
	end
end

-- An object and its path; text, nodes, labels and root are those of its path, text nil for garbage. describe as in
-- steps.
function retention.object(section, g, addr, describe, text, nodes, labels, root)
	local _, size, kind = g:find(addr)
	section:text("object", describe(addr), { secret = true })
	section:text("type", kind)
	section:bytes("size", size)
	if not text then
		section:note "garbage: no root reaches it, the next collection frees it"
		return
	end
	local bytes, count = g:retained(addr)
	section:text("path", text, { secret = true })
	section:bytes("retained", bytes, { label = "retained (freed with it)" })
	section:count("retained_objects", count, { label = "in objects" })
	retention.steps(section, g, root, nodes, labels, describe)
end

-- The referrers of an object: by(holder, kind) is the label of the reference, path(holder) the path to the holder.
function retention.holders(section, g, addr, by, path)
	local holders, total, root = g:referrers(addr, HOLDERS)
	section:count("referrers", total, { label = "references to it" })
	if root then section:text("root", root) end
	if total == 0 then return end
	local rows = section:table("holders", {
		{ "by", "text", secret = true }, { "type", "text" }, { "address", "address" }, { "path", "text", secret = true },
	})
	for _, holder in ipairs(holders) do
		local _, _, kind = g:find(holder)
		rows:row(named(by(holder, kind)), kind, holder, path(holder))
	end
	if total > #holders then section:note(("the first %d of %d references are shown"):format(#holders, total)) end
end

return retention
