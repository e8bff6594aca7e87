-- account.lua: reads the structures of corpora/programs/walk.c with lib.walk and prints them in the program's own
-- format. Each line is an example of its walker.
local xcore = require "xcore"
local walk = require "lib.walk"
local t = xcore.target

-- The variables of the program by name, without a prefix.
local v = setmetatable({}, { __index = function(_, name) return t:var(name) end })

local function ids(name, nodes, member)
	local words = { name }
	for node in nodes do words[#words + 1] = tostring(node[member or "id"]) end
	print(table.concat(words, " "))
end

local function pairs_of(name, nodes, text)
	local words = { name }
	for node, position in nodes do words[#words + 1] = text(node, position) end
	print(table.concat(words, " "))
end

-- The kind and text of the error that ends a walk.
local function damaged(name, walker, ...)
	local arguments = table.pack(...)
	local done, err = pcall(function()
		local count = 0
		for _ in walker(table.unpack(arguments, 1, arguments.n)) do
			count = count + 1
			assert(count < 100000, "it does not end")
		end
	end)
	print(("damaged %s: %s"):format(name, done and "nothing noticed" or type(err) == "table" and err.kind .. ": " .. err.message or err))
end

ids("list", walk.list(v.list, "next"))
ids("ring", walk.ring(v.ring, "next"))
ids("items", walk.list_head(v.items, "struct item", "link"))
ids("items_empty", walk.list_head(v.items_empty, "struct item", "link"))
ids("slist", walk.SLIST(v.slist, "single"))
ids("blist", walk.LIST(v.blist, "both"))
ids("stailq", walk.STAILQ(v.stailq, "tail"))
ids("stailq_empty", walk.STAILQ(v.stailq_empty, "tail"))
ids("tailq", walk.TAILQ(v.tailq, "tailed"))
ids("tailq_empty", walk.TAILQ(v.tailq_empty, "tailed"))
pairs_of("buckets", walk.hash(v.buckets, nil, "chain.next"), function(e, bucket) return bucket .. ":" .. e.key end)

local LINUX = { left = "rb_left", right = "rb_right", parent = "__rb_parent_color", type = "struct rb_item", member = "node", key = "key" }
local function nginx(tree) return { parent = "parent", sentinel = tree.sentinel, key = "key" } end
local AVL = { left = "child[0]", right = "child[1]" }
ids("rb", walk.rbtree(v.rb.rb_node, LINUX), "key")
ids("ngx", walk.rbtree(v.ngx.root, nginx(v.ngx)), "key")
ids("ngx_empty", walk.rbtree(v.ngx_empty.root, nginx(v.ngx_empty)), "key")
ids("avl", walk.avl(v.avl, AVL), "key")

ids("skip", walk.skiplist(v.skip, "level[%d].forward", 4), "key")
ids("leap", walk.skiplist(v.leap, "next_[0]"), "key")
pairs_of("radix", walk.radix(v.radix, 3, "slots"), function(item, index) return index .. ":" .. xcore.cast(item, "int *")[0] end)

local function kids(person) return walk.array(person.kids, person.count) end
pairs_of("family", walk.tree(v.family, kids), function(person, depth) return person.id .. "@" .. depth end)
ids("points", walk.array(v.points), "x")
pairs_of("sparse", walk.pointers(v.sparse), function(point, index) return index .. ":" .. point.x end)

-- Options, and missing structures.
local two = { max = 2 }
assert(not pcall(function() for _ in walk.list(v.list, "next", two) do end end))
local third = v.list.next.next
local given = {}
for node, position in walk.list(v.list, "next", { stop = third }) do given[position] = node.id end
assert(#given == 2)
for _, nothing in ipairs { walk.list(v.empty, "next"), walk.ring(nil, "next"), walk.list_head(nil, "struct item", "link"),
	walk.SLIST(nil, "single"), walk.LIST(nil, "both"), walk.STAILQ(nil, "tail"), walk.TAILQ(nil, "tailed"),
	walk.hash(nil, nil, "next"), walk.rbtree(nil), walk.avl(nil), walk.skiplist(nil, "next"), walk.radix(nil, 3, "slots"),
	walk.tree(nil, kids), walk.array(nil), walk.pointers(nil) } do
	assert(nothing() == nil)
end

damaged("list_cycle", walk.list, v.list_cycle, "next")
damaged("list_garbage", walk.list, v.list_garbage, "next")
damaged("ring_open", walk.ring, v.ring_open, "next")
damaged("items_back", walk.list_head, v.items_back, "struct item", "link")
damaged("items_open", walk.list_head, v.items_open, "struct item", "link")
damaged("slist_cycle", walk.SLIST, v.slist_cycle, "single")
damaged("blist_back", walk.LIST, v.blist_back, "both")
damaged("stailq_last", walk.STAILQ, v.stailq_last, "tail")
damaged("tailq_back", walk.TAILQ, v.tailq_back, "tailed")
damaged("tailq_last", walk.TAILQ, v.tailq_last, "tailed")
damaged("buckets_cycle", walk.hash, v.buckets_cycle, 16, "chain.next")
damaged("rb_parent", walk.rbtree, v.rb_parent.rb_node, LINUX)
damaged("rb_cycle", walk.rbtree, v.rb_cycle.rb_node, { left = "rb_left", right = "rb_right", type = "struct rb_item", member = "node", key = "key" })
damaged("ngx_parent", walk.rbtree, v.ngx_parent.root, nginx(v.ngx_parent))
damaged("avl_cycle", walk.avl, v.avl_cycle, AVL)
damaged("skip_level", walk.skiplist, v.skip_level, "level[%d].forward", 4)
damaged("radix_garbage", walk.radix, v.radix_garbage, 3, "slots")
damaged("family_cycle", walk.tree, v.family_cycle, kids)
damaged("sparse", walk.array, v.sparse)
