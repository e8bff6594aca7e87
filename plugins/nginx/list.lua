-- list.lua: nginx's containers.
--
--	ngx_array_t  | elts | nelts | size | nalloc | pool |
--	ngx_list_t   | last | part { elts | nelts | next } | size | nalloc | pool |    parts are chained
--	ngx_queue_t  | prev | next |                                                   a ring, the head is in it
--	ngx_rbtree_t | root | sentinel | insert |                                      the sentinel stands for NULL
local xcore = require "xcore"
local walk = require "lib.walk"

local list = {}

local MOST = 1000000
local MOST_NODES = 20000000
local DEEPEST = 128

local function damaged(format, ...)
	error(xcore.error("fault", format:format(...)))
end

-- The elements of an ngx_array_t as values of `type`: structs, or the target of a pointer type (nil for NULL). An
-- impossible count raises a fault.
function list.array(array, type)
	local count, elts = array and array.nelts or 0, array and array.elts
	if count ~= 0 and elts == nil then damaged("an array of %s elements has a null address", xcore.u64(count)) end
	if math.ult(MOST, count) then damaged("an array of %s elements", xcore.u64(count)) end
	local t, at, size, i = xcore.target, elts and xcore.addr(elts), array and array.size, -1
	return function()
		i = i + 1
		if i >= count then return nil end
		return i, t:value(type, at + i * size)
	end
end

-- The elements of an ngx_list_t.
function list.list(head, type)
	local t, size = xcore.target, head.size
	local parts = walk.list(xcore.ref(head, "part"), "next", { max = MOST })
	local part, i, at, given = nil, 0, 0, -1
	return function()
		while part == nil or i >= part.nelts do
			part, i = parts(), 0
			if part == nil then return nil end
			if math.ult(MOST, part.nelts) then damaged("a list part of %s elements", xcore.u64(part.nelts)) end
			at = part.elts and xcore.addr(part.elts) or 0
		end
		i, given = i + 1, given + 1
		return given, t:value(type, at + (i - 1) * size)
	end
end

-- The structs of `type` whose member is in the ring of an ngx_queue_t.
function list.queue(head, type, member)
	return walk.list_head(head, type, member)
end

-- The structs of `type` whose member is a node of an ngx_rbtree_t, by key.
function list.rbtree(tree, type, member)
	return walk.rbtree(tree.root, { sentinel = tree.sentinel, type = type, member = member })
end

-- The addresses of all nodes of an ngx_rbtree_t, from the root, its height (steps from the root to the lowest node),
-- and the reason if some are missing. Unordered, without duplicates: a tree that is damaged or changes during the
-- read is followed as far as possible.
function list.tree_nodes(tree)
	local t, sentinel = xcore.target, tree.sentinel and xcore.addr(tree.sentinel) or 0
	local left, right = xcore.offsetof("ngx_rbtree_node_t", "left"), xcore.offsetof("ngx_rbtree_node_t", "right")
	local nodes, seen, height, why, from = {}, { [0] = true, [sentinel] = true }, 0, nil, 1
	local function meet(at)
		if at ~= 0 and at ~= sentinel and seen[at] then why = why or ("two nodes lead to %s"):format(xcore.hex(at)) end
		if seen[at] or #nodes == MOST_NODES then return end
		seen[at] = true
		nodes[#nodes + 1] = at
	end
	meet(tree.root and xcore.addr(tree.root) or 0)
	while from <= #nodes and height < DEEPEST do
		local to = #nodes
		for i = from, to do
			local done, a, b = pcall(function() return t:ptr(nodes[i] + left), t:ptr(nodes[i] + right) end)
			if done then
				meet(a)
				meet(b)
			else
				why = why or ("its node %s cannot be read"):format(xcore.hex(nodes[i]))
			end
		end
		from, height = to + 1, height + (#nodes > to and 1 or 0)
	end
	if from <= #nodes or #nodes == MOST_NODES then why = why or "it is too large, or not a tree" end
	return nodes, height, why
end

return list
