-- walk.lua: iterators over the data structures of C programs.
--
--     local walk = require "lib.walk"
--     for node in walk.list(t:var "server".clients, "next") do print(node.fd) end
--
--     walk.list(head, next)                  singly linked, ends at NULL
--     walk.ring(head, next)                  ends at head; NULL on the way is an error
--     walk.list_head(head, type, member)     Linux list_head, ngx_queue_t: elements are structs of `type`, without head
--     walk.SLIST(head, field)                <sys/queue.h>, by the names of its macros
--     walk.LIST(head, field)
--     walk.STAILQ(head, field)
--     walk.TAILQ(head, field)
--     walk.hash(buckets, count, next)        chains of a hash table; count nil: the size of the array
--     walk.rbtree(root, options)             binary search trees in order
--     walk.avl(root, options)
--     walk.skiplist(header, next, levels)    the lowest level; next is a path with %d for the level: "level[%d].forward"
--     walk.radix(root, height, slots)        a tree of arrays of pointers, of depth `height`; returns item, index
--     walk.tree(root, children)              any tree, parents first; children(node): a list, or an iterator of children
--     walk.array(p, count)                   p[0] to p[count - 1]
--     walk.pointers(p, count)                the same without NULL
--
-- Each iterator returns a node and its position (from 1; hash: the bucket, tree: the depth, radix, array and
-- pointers: the index, all from 0). It reads only the nodes that the loop asks for. A NULL head is an empty
-- structure. `next` is a member, a path ("entry.link", "next[0]") or a function of the node. Last, a table may follow:
--
--     max     nodes, 100,000,000 unless given: more is an error of kind "limit"
--     stop    a node (or its address) that ends a list like NULL
--
-- Inconsistencies are errors of kind "format" that name the structure, the position and address of the node and the
-- problem. A wild pointer is a fault with its path. A cycle is noticed after its nodes were returned a few times.
--
-- trees:  left, right   members or paths, "left" and "right" unless given
--         parent        member with the parent's address, compared; its low bits are a colour (Linux's __rb_parent_color)
--         sentinel      a node that represents NULL (nginx)
--         type, member  the tree's nodes are this member of structs of this type
--         key           member, or function of the node, that must not descend
-- list_head:  next, prev   "next" and "prev" unless given; prev = false: back links are not compared
local xcore = require "xcore"

local walk = {}

local MAX = 100000000
local DEEPEST = 128 -- no balanced tree of 2^64 nodes is deeper

-- Errors ----------------------------------------------------------------------------------------------------

local function grouped(n)
	local text, count = tostring(n), nil
	repeat
		text, count = text:gsub("^(%d+)(%d%d%d)", "%1,%2")
	until count == 0
	return text
end

-- The address as text; "NULL" for nil.
local function at(v)
	return v and xcore.hex(math.type(v) and v or xcore.addr(v)) or "NULL"
end

local function wrong(name, format, ...)
	error(xcore.error("format", name .. ": " .. format:format(...)), 0)
end

local function too_many(name, max)
	error(xcore.error("limit", ("%s: more than %s nodes"):format(name, grouped(max))), 0)
end

-- "walk.list of server.clients"
local function name_of(kind, v)
	return ("walk.%s of %s"):format(kind, v and xcore.path(v) or "NULL")
end

-- Members by path -------------------------------------------------------------------------------------------

-- A function that returns the member at a path of a value: "next", "entry.link", "level[0].forward".
local function getter(path)
	if type(path) == "function" then return path end
	if not path:find "[%.%[]" then return function(v) return v[path] end end
	local steps = {}
	for name, index in path:gmatch "([^%.%[%]]*)%[?(%d*)" do
		if name ~= "" then steps[#steps + 1] = name end
		if index ~= "" then steps[#steps + 1] = math.tointeger(index) end
	end
	return function(v)
		for i = 1, #steps do
			if v == nil then return nil end
			v = v[steps[i]]
		end
		return v
	end
end

-- The container of a member, given a pointer to the member: a pointer to a struct of the type.
local function container(t, member)
	if not t then return function(v) return v end end
	local kind = type(t) == "string" and xcore.target:type(t) or t
	local back, pointer = xcore.offsetof(kind, member), kind:pointer()
	return function(v) return xcore.cast(xcore.addr(v) - back, pointer) end
end

-- Chains ----------------------------------------------------------------------------------------------------

-- The start of a cycle of a known length.
local function name_cycle(name, first, step, length)
	local behind, ahead, position = first, first, 1
	for _ = 1, length do ahead = step(ahead) end
	while xcore.addr(behind) ~= xcore.addr(ahead) do
		behind, ahead, position = step(behind), step(ahead), position + 1
	end
	local last = behind
	for _ = 1, length - 1 do last = step(last) end
	wrong(
		name,
		"cycle: node %s (%s) leads back to node %s",
		grouped(position + length - 1),
		at(last),
		grouped(position)
	)
end

-- The loop of all lists: returns node and position. `step` leads from a node to the next; `check(node, before,
-- position)` may report an error of a node. Cycles are found with Brent's algorithm: one compare with an earlier node
-- that moves up.
local function chain(name, first, step, o, check)
	local max, stop = o.max or MAX, o.stop
	local node, before, position = first, nil, 0
	local mark, since, span = nil, 0, 1
	if stop and not math.type(stop) then stop = xcore.addr(stop) end
	return function()
		if position > 0 then
			before = node
			node = node and step(node)
		end
		if not node then return nil end
		local addr = xcore.addr(node)
		if addr == stop then
			node = nil
			return nil
		end
		if addr == mark then name_cycle(name, first, step, since + 1) end
		position, since = position + 1, since + 1
		if position > max then too_many(name, max) end
		if since == span then mark, since, span = addr, 0, span * 2 end
		if check then check(node, before, position) end
		return node, position
	end
end

function walk.list(head, next, o)
	return chain(name_of("list", head), head, getter(next), o or {})
end

-- The same for a list that returns to its head, where the chain must stop.
local function closed(name, step)
	return function(node)
		local following = step(node)
		if not following then wrong(name, "not closed: %s leads to NULL", at(node)) end
		return following
	end
end

function walk.ring(head, next, o)
	if not head then return walk.list(head, next, o) end
	local name, first = name_of("ring", head), true
	local step = closed(name, getter(next))
	local nodes = chain(name, step(head), step, { max = o and o.max, stop = head })
	return function()
		if first then
			first = false
			return head, 1
		end
		local node, position = nodes()
		if node then return node, position + 1 end
	end
end

function walk.list_head(head, of, member, o)
	o = o or {}
	if not head then return walk.list(head, "next", o) end
	local name = name_of("list_head", head)
	local step = closed(name, getter(o.next or "next"))
	local back = o.prev ~= false and getter(o.prev or "prev")
	local outer = container(of, member)
	local function check(link, before, position)
		local prev = back(link)
		if not prev or xcore.addr(prev) ~= xcore.addr(before or head) then
			wrong(
				name,
				"node %s (%s): its back link is %s, not %s",
				grouped(position),
				at(link),
				at(prev),
				at(before or head)
			)
		end
	end
	local links = chain(name, step(head), step, { max = o.max, stop = head }, back and check)
	return function()
		local link, position = links()
		if not link then return nil end
		return outer(link), position
	end
end

-- <sys/queue.h> ---------------------------------------------------------------------------------------------

local function queue(kind, head, field, first, next, o, check)
	local function step(node) return node[field][next] end
	return chain(name_of(kind, head), head and head[first], step, o or {}, check)
end

-- Each element holds the address of the pointer that leads to it.
local function check_back(kind, head, field, first, next, prev)
	return function(node, before, position)
		local link = before and xcore.addr(before[field], next) or xcore.addr(head, first)
		local back = node[field][prev]
		if not back or xcore.addr(back) ~= link then
			wrong(
				name_of(kind, head),
				"node %s (%s): its %s is %s, not %s",
				grouped(position),
				at(node),
				prev,
				at(back),
				at(link)
			)
		end
	end
end

-- The head holds the address of the last element's pointer, which is NULL.
local function check_last(kind, head, field, first, next, last, nodes)
	local final
	return function()
		local node, position = nodes()
		if node then
			final = node
			return node, position
		end
		local link = final and xcore.addr(final[field], next) or head and xcore.addr(head, first)
		local held = head and head[last]
		if head and (not held or xcore.addr(held) ~= link) then
			wrong(name_of(kind, head), "%s of its head is %s, not %s", last, at(held), at(link))
		end
	end
end

function walk.SLIST(head, field, o)
	return queue("SLIST", head, field, "slh_first", "sle_next", o)
end

function walk.LIST(head, field, o)
	return queue(
		"LIST",
		head,
		field,
		"lh_first",
		"le_next",
		o,
		check_back("LIST", head, field, "lh_first", "le_next", "le_prev")
	)
end

function walk.STAILQ(head, field, o)
	local nodes = queue("STAILQ", head, field, "stqh_first", "stqe_next", o)
	return check_last("STAILQ", head, field, "stqh_first", "stqe_next", "stqh_last", nodes)
end

function walk.TAILQ(head, field, o)
	local check = check_back("TAILQ", head, field, "tqh_first", "tqe_next", "tqe_prev")
	local nodes = queue("TAILQ", head, field, "tqh_first", "tqe_next", o, check)
	return check_last("TAILQ", head, field, "tqh_first", "tqe_next", "tqh_last", nodes)
end

-- Hash tables -----------------------------------------------------------------------------------------------

function walk.hash(buckets, count, next, o)
	o = o or {}
	local name, step, max = name_of("hash", buckets), getter(next), o.max or MAX
	local bucket, given, nodes = -1, 0, nil
	count = count or buckets and #buckets or 0
	return function()
		while true do
			local node = nodes and nodes()
			if node then
				given = given + 1
				if given > max then too_many(name, max) end
				return node, bucket
			end
			bucket = bucket + 1
			if bucket >= count then return nil end
			local first = buckets[bucket]
			nodes = first and chain(("%s: bucket %d"):format(name, bucket), first, step, o)
		end
	end
end

-- Search trees ----------------------------------------------------------------------------------------------

-- Compares the parent address in a node.
local function parent_check(name, parent)
	local get = getter(parent)
	return function(node, above)
		local held, wanted = get(node), above and xcore.addr(above) or 0
		held = held and (math.type(held) and held or xcore.addr(held)) or 0
		if held & ~3 ~= wanted then
			wrong(name, "node %s: its parent is %s, not %s", at(node), at(held & ~3), at(wanted))
		end
	end
end

-- Compares a key with the previous key.
local function order_check(name, key)
	local get, last = getter(key), nil
	return function(node, position)
		local value = get(node)
		if last and value < last then
			wrong(name, "node %s (%s): its key %s is below the previous key %s", grouped(position), at(node),
				tostring(value),
				tostring(last))
		end
		last = value
	end
end

-- In order. Keeps the path from the root to the next node, left turns only.
local function in_order(kind, root, o)
	local name, max = name_of(kind, root), o.max or MAX
	local left, right = getter(o.left or "left"), getter(o.right or "right")
	local check_parent, check_order = o.parent and parent_check(name, o.parent), o.key and order_check(name, o.key)
	local outer = container(o.type, o.member)
	local sentinel = o.sentinel and (math.type(o.sentinel) and o.sentinel or xcore.addr(o.sentinel))
	local stack, depths, top, given = {}, {}, 0, 0
	local function descend(node, above, depth)
		while node and xcore.addr(node) ~= sentinel do
			if depth > DEEPEST then wrong(name, "node %s is at depth %d: not a balanced tree", at(node), depth) end
			if check_parent and (above or not sentinel) then check_parent(node, above) end
			top = top + 1
			stack[top], depths[top] = node, depth
			above, node, depth = node, left(node), depth + 1
		end
	end
	descend(root, nil, 0)
	return function()
		if top == 0 then return nil end
		local node, depth = stack[top], depths[top]
		top, given = top - 1, given + 1
		if given > max then too_many(name, max) end
		local item = outer(node)
		if check_order then check_order(item, given) end
		descend(right(node), node, depth + 1)
		return item, given
	end
end

function walk.rbtree(root, o) return in_order("rbtree", root, o or {}) end

function walk.avl(root, o) return in_order("avl", root, o or {}) end

-- Skip lists ------------------------------------------------------------------------------------------------

-- Every node of a higher level must be on the lowest level, in the same order.
function walk.skiplist(header, next, levels, o)
	local name, steps, expected = name_of("skiplist", header), {}, {}
	for level = 0, (levels or 1) - 1 do
		steps[level] = getter(next:find("%d", 1, true) and next:format(level) or next)
		expected[level] = header and steps[level](header)
	end
	local function check(node)
		local addr = xcore.addr(node)
		for level = 1, #steps do
			if expected[level] and xcore.addr(expected[level]) == addr then expected[level] = steps[level](node) end
		end
	end
	local nodes = chain(name, expected[0], steps[0], o or {}, check)
	return function()
		local node, position = nodes()
		if node then return node, position end
		for level = 1, #steps do
			if expected[level] then
				wrong(name, "level %d leads to %s, which does not follow the previous node on level 0", level,
					at(expected[level]))
			end
		end
	end
end

-- Trees of any kind -----------------------------------------------------------------------------------------

function walk.radix(root, height, slots, o)
	local name, get, max = name_of("radix", root), getter(slots), (o or {}).max or MAX
	local stack, at_slot, given = { root }, { -1 }, 0
	if height < 1 or height > 64 then wrong(name, "a height of %d", height) end
	return function()
		while #stack > 0 do
			local top = #stack
			local array = get(stack[top])
			at_slot[top] = at_slot[top] + 1
			if at_slot[top] >= #array then
				stack[top], at_slot[top] = nil, nil
			else
				local child = array[at_slot[top]]
				if child and top < height then
					child = xcore.cast(child, xcore.typeof(root))
					stack[top + 1], at_slot[top + 1] = child, -1
				elseif child then
					local index = 0
					for i = 1, top do index = index * #array + at_slot[i] end
					given = given + 1
					if given > max then too_many(name, max) end
					return child, index
				end
			end
		end
	end
end

-- Turns a list, or a function that returns one item after the other, into such a function.
local function each_of(children)
	if type(children) ~= "table" then return children or function() end end
	local i = 0
	return function()
		i = i + 1
		return children[i]
	end
end

function walk.tree(root, children, o)
	o = o or {}
	local name, max, deepest = name_of("tree", root), o.max or MAX, o.depth or 10000
	local above, lists, on_path, depth, given = {}, {}, {}, 0, 0
	local function enter(node)
		local addr = xcore.addr(node)
		if on_path[addr] then
			wrong(
				name,
				"cycle: node %s leads back to %s, %d above it",
				at(above[depth]),
				at(node),
				depth - on_path[addr]
			)
		end
		if depth >= deepest then wrong(name, "node %s is more than %d levels deep", at(node), deepest) end
		given = given + 1
		if given > max then too_many(name, max) end
		depth = depth + 1
		above[depth], lists[depth], on_path[addr] = node, each_of(children(node)), depth
		return node, depth - 1
	end
	local entered = false
	return function()
		if not entered then
			entered = true
			if root then return enter(root) end
		end
		while depth > 0 do
			local child = lists[depth]()
			if child then return enter(child) end
			on_path[xcore.addr(above[depth])], above[depth], lists[depth] = nil, nil, nil
			depth = depth - 1
		end
	end
end

-- Arrays ----------------------------------------------------------------------------------------------------

function walk.array(p, count)
	local i = -1
	count = count or p and #p or 0
	return function()
		i = i + 1
		if i >= count then return nil end
		local item = p[i]
		if item == nil then wrong(name_of("array", p), "[%d] is NULL: walk.pointers skips it", i) end
		return item, i
	end
end

function walk.pointers(p, count)
	local i = -1
	count = count or p and #p or 0
	return function()
		repeat
			i = i + 1
			if i >= count then return nil end
		until p[i]
		return p[i], i
	end
end

return walk
