-- rax.lua: radix trees (rax.h, since Redis 5.0): the keys of streams, consumer groups, consumers.
--
--     | iskey:1 isnull:1 iscompr:1 size:29 | bytes[size] | padding to a word | pointers to children | value, if iskey and not isnull |
--
-- A compressed node has one child and represents `size` bytes of the key; other nodes have one child per byte.
local xcore = require "xcore"
local fault = require "redis.fault"
local record = require "redis.record"

local rax = {}

local DEEPEST = 1000
local WIDEST = 1 << 20

-- The parts of a node: its bytes, its children's addresses, whether a key ends at it, and that key's value.
local function node(t, at)
	local word = t.pointer_size
	local head = t:u32(at)
	local size, compressed = head >> 3, head & 4 ~= 0
	if size > WIDEST then fault.raise("%#x is not a node of a radix tree", at) end
	local pointers = at + (4 + size + word - 1) // word * word
	local count = compressed and 1 or size
	local has_value = head & 3 == 1
	local words = record.words(t, pointers, count + (has_value and 1 or 0))
	return {
		bytes = size > 0 and t:read(at + 4, size) or "", compressed = compressed, children = words, count = count,
		is_key = head & 1 == 1, value = has_value and words[count + 1] or 0,
	}
end

local function visit_node(t, at, key, visit, depth)
	if depth > DEEPEST then fault.raise("a radix tree deeper than any that Redis builds") end
	local here = node(t, at)
	if here.is_key and visit(key, here.value) == false then return false end
	for i = 1, here.count do
		local step = here.compressed and here.bytes or here.bytes:sub(i, i)
		if visit_node(t, here.children[i], key .. step, visit, depth + 1) == false then return false end
	end
end

-- Calls visit(key, value) for each key in order, until it returns false. `tree` is a struct rax. Raises faults.
function rax.each(t, tree, visit)
	if not tree.head then return end
	visit_node(t, xcore.addr(tree.head), "", visit, 0)
end

return rax
