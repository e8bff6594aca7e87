-- collector: the lists of the garbage collector: rings of heads in front of objects, one per generation.
local xcore = require "xcore"

local collector = {}

local MOST = 200000000 -- objects
collector.BATCH = 65536

-- Names and heads of an interpreter's lists.
local function rings(interpreter)
	local gc, list = interpreter.gc, {}
	if xcore.has(gc, "generations") then
		for i = 0, 2 do list[#list + 1] = { "generation " .. i, gc.generations[i].head } end
	end
	for _, name in ipairs { "young", "old", "permanent_generation" } do
		if xcore.has(gc, name) then
			local member = gc[name]
			for i = 0, name == "old" and 1 or 0 do
				local one = name == "old" and member[i] or member
				list[#list + 1] = { (name:gsub("_", " ")), one.head }
			end
		end
	end
	return list
end

-- fn(addresses) for the objects of a ring, in batches; fn may end it by returning true. Returns the reason if it ends
-- early.
local function follow(py, ring, fn)
	local first, at, count = xcore.addr(ring), ring, 0
	repeat
		local c, n, why = xcore.follow(at, "_gc_next", {},
			{ addresses = true, partial = true, max = collector.BATCH, stop = count > 0 and first or nil })
		local last, list, head = c[1][n], {}, py.layout.gc_head
		for i = count > 0 and 1 or 2, n do list[#list + 1] = c[1][i] + head end
		if #list > 0 and fn(list) then return nil end
		count = count + n
		if n < collector.BATCH and why then return why end
		local next = last and py.t:ptr(last) or 0
		if next == first then return nil end
		if n < collector.BATCH or next == 0 then return "its last object leads to " .. xcore.hex(next) end
		at = py.t:value("PyGC_Head", next)
	until count > MOST
	return "it is endless"
end

-- fn(name, addresses) for all objects in the collector's lists, in batches; fn may end a list by returning true.
-- `broken(name, addr, why)` is called for a list that ends early.
function collector.each(py, fn, broken)
	for _, interpreter in ipairs(py.interpreters) do
		for _, ring in ipairs(rings(interpreter)) do
			local ok, why = pcall(follow, py, ring[2], function(addresses) return fn(ring[1], addresses) end)
			if not ok and type(why) == "table" and why.kind ~= "fault" then error(why, 0) end
			if why and broken then broken(ring[1], xcore.addr(ring[2]), type(why) == "table" and why.message or why) end
		end
	end
end

-- Names of lists, in order.
function collector.names(py)
	local order, had = {}, {}
	for _, interpreter in ipairs(py.interpreters) do
		for _, ring in ipairs(rings(interpreter)) do
			if not had[ring[1]] then order[#order + 1] = ring[1] end
			had[ring[1]] = true
		end
	end
	return order
end

-- Addresses by list name, and whether one has more than about `most`.
function collector.tracked(py, most)
	local list, more = {}, false
	for _, name in ipairs(collector.names(py)) do list[name] = {} end
	collector.each(py, function(name, addresses)
		local into = list[name]
		table.move(addresses, 1, #addresses, #into + 1, into)
		more = more or most ~= nil and #into >= most
		return most and #into >= most
	end, function(...) collector.broken(py, ...) end)
	return list, more
end

-- A list that ends early is damage.
function collector.broken(py, name, addr, why)
	py.broken = true
	py:damaged(addr, name .. " of the collector ends early: " .. why)
end

return collector
