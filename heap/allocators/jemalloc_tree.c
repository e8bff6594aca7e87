/* jemalloc_tree: jemalloc's radix tree from pages to extents, found by its shape and read without trust.
 *
 *  root: array in the module's .bss          node (3 levels only)          leaf
 *  ┌────┬────┬─ … ─┬────┐                    ┌────┬─ … ─┬────┐             ┌───────┬─ … ─┬───────┐
 *  │ 0  │ ●──┼──── … ───┼──────────────────► │ 0  │ … ● │ 0  │ ──────────► │ entry │     │ entry │
 *  └────┴────┴─ … ─┴────┘  addr's high bits  └────┴─ … ─┴────┘             └───────┴─ … ─┴───────┘  a page each
 *
 *  entry, 8 bytes:   | class | pointer to the extent's record | state | is_head | slab |     where the class fits above
 *  entry, 16 bytes:  | pointer to the extent's record | 32 bits of class, state, is_head, slab |  bits of an address
 *
 * checked against jemalloc 5.3.0, include/jemalloc/internal/rtree.h, with two and three levels, and 5.2.1 as it
 * runs. With 48-bit addresses there are two levels of 18 bits and entries of 8 bytes; where jemalloc was configured
 * on a machine with 57-bit addresses three levels of 15 bits and entries of 16 bytes.
 *
 * The shape is its own proof: the entry of an extent's first page leads to a record (edata_t, extent_t) whose
 * second word is the address of that very page. That gives the rest of the key, and so the place where the root
 * must begin. */
#include "heap/allocators/jemalloc_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/symbol.h"

enum {
	ALIGNMENT = 64,       /* alignment of nodes and records: a cache line (base_alloc) */
	PROBES = 64,          /* entries examined to recognise a leaf */
	FIRST_PROBES = 4,     /* of these at least one must fit */
	ENOUGH = 3,           /* entries that prove a tree */
	RECORD = 24,          /* bytes of a record that are examined: bits, address, size */
	SLACK = 512,          /* bytes that may precede the root in its struct */
	PAGE = 4096,          /* leaves are read in such pieces */
	NEIGHBOURS = 24,      /* words of a root examined together */
	NODE_MIN = 1 << 16,   /* minimum bytes of a node */
	ROOT_MIN = 1 << 16,   /* and of a root */
	MIDDLES = 256,        /* nodes of the middle level; each covers 4 TiB */
	MODULE_MAX = 1 << 28, /* bytes of a module's data that are searched */
};

static const uint64_t budget = UINT64_C(1) << 28; /* bytes of supposed leaves that a search may read */

static struct xc_jemalloc_geometry geometry_of(unsigned vaddr, unsigned lg_page)
{
	struct xc_jemalloc_geometry g = {.vaddr = (uint8_t)vaddr, .lg_page = (uint8_t)lg_page};
	unsigned bits = vaddr - lg_page, third = bits / 3, rest = bits % 3;
	g.levels = bits <= 36 ? 2 : 3;
	if (g.levels == 2) {
		g.bits[0] = (uint8_t)(bits / 2);
		g.bits[1] = (uint8_t)(bits - bits / 2);
	} else {
		g.bits[0] = (uint8_t)third;
		g.bits[1] = (uint8_t)(third + rest / 2);
		g.bits[2] = (uint8_t)(third + rest - rest / 2);
	}
	g.entry = vaddr <= 56 ? 8 : 16;
	return g;
}

/* The results of configure on existing machines, the likely ones first. */
static const uint8_t shapes[][2] = {{48, 12}, {57, 12}, {52, 12}, {47, 12}, {39, 12}, {48, 14}, {48, 16}, {52, 16}};

static uint64_t root_size(const struct xc_jemalloc_geometry *g)
{
	return UINT64_C(8) << g->bits[0];
}

static uint64_t leaf_size(const struct xc_jemalloc_geometry *g)
{
	return (uint64_t)g->entry << g->bits[g->levels - 1];
}

/* The number of address bits below those of level `level`. */
static unsigned shift_of(const struct xc_jemalloc_geometry *g, unsigned level)
{
	unsigned shift = g->lg_page;
	for (unsigned i = level + 1; i < g->levels; i++)
		shift += g->bits[i];
	return shift;
}

static uint64_t index_of(const struct xc_jemalloc_geometry *g, unsigned level, xc_addr addr)
{
	return addr >> shift_of(g, level) & ((UINT64_C(1) << g->bits[level]) - 1);
}

static struct xc_jemalloc_entry decode(const struct xc_jemalloc_geometry *g, const uint8_t *bytes)
{
	uint64_t word = xc_jemalloc_word(bytes);
	struct xc_jemalloc_entry e = {0};
	if (g->entry == 16) {
		e.edata = word;
		e.rest = xc_jemalloc_word(bytes + 8);
		return e;
	}
	uint64_t pointer = ((UINT64_C(1) << g->vaddr) - 1) & ~(uint64_t)(ALIGNMENT - 1);
	e.edata = word & pointer;
	e.rest = word & ~pointer;
	return e;
}

/* ---- by shape ---- */

struct search {
	const struct xc_process *process;
	const struct xc_module *module;
	xc_addr lo, hi; /* the data that is searched, inclusive */
	const struct xc_jemalloc_geometry *g;
	uint64_t read; /* bytes of supposed leaves */
};

/* Does the entry lead to a record whose address has this index? Then addr_out gets the address. */
static bool leads_to_itself(const struct search *s, const struct xc_jemalloc_entry *e, uint64_t index,
			    xc_addr *addr_out)
{
	uint8_t buf[RECORD];
	const struct xc_jemalloc_geometry *g = s->g;
	if (e->edata == 0 || e->edata % ALIGNMENT)
		return false;
	const uint8_t *record = xc_jemalloc_peek(s->process->space, e->edata, buf, sizeof buf);
	if (!record)
		return false;
	xc_addr addr = xc_jemalloc_word(record + 8);
	*addr_out = addr;
	return addr && addr >> g->vaddr == 0 && index_of(g, g->levels - 1U, addr) == index;
}

/* The evidence in the entries of a supposed leaf. */
struct verdict {
	unsigned seen, fit;
	bool stop;
	xc_addr key; /* of the leaf, by the first entry that fits */
};

static void classify(const struct search *s, uint64_t index, const uint8_t *bytes, struct verdict *v)
{
	const struct xc_jemalloc_geometry *g = s->g;
	struct xc_jemalloc_entry e = decode(g, bytes);
	xc_addr addr;
	if (e.edata == 0)
		return;
	v->seen++;
	if (leads_to_itself(s, &e, index, &addr)) {
		xc_addr key = addr >> shift_of(g, g->levels - 2U) << shift_of(g, g->levels - 2U);
		v->key = v->fit ? v->key : key;
		v->fit += v->key == key;
	}
	v->stop = v->seen >= PROBES || (v->seen >= FIRST_PROBES && v->fit == 0);
}

static struct verdict classify_leaf(struct search *s, xc_addr leaf)
{
	struct verdict v = {0};
	uint8_t buf[PAGE];
	uint64_t size = leaf_size(s->g);
	for (uint64_t at = 0; at < size && !v.stop && s->read < budget; at += PAGE) {
		const uint8_t *page = xc_jemalloc_peek(s->process->space, leaf + at, buf, PAGE);
		s->read += PAGE;
		if (!page) {
			v.stop = at == 0;
			continue;
		}
		for (unsigned i = 0; i < PAGE && !v.stop; i += s->g->entry)
			if (xc_jemalloc_word(page + i))
				classify(s, (at + i) / s->g->entry, page + i, &v);
	}
	return v;
}

static bool is_node(const struct xc_process *process, xc_addr addr)
{
	const struct xc_segment *segment = addr % ALIGNMENT ? NULL : xc_space_find(process->space, addr);
	return segment && segment->provenance < XC_NOT_DUMPED && !xc_process_module(process, addr);
}

/* With three levels: examines the first children of a supposed node. */
static struct verdict classify_node(struct search *s, xc_addr node)
{
	struct verdict v = {0};
	const struct xc_jemalloc_geometry *g = s->g;
	uint8_t buf[8];
	unsigned children = 0;
	for (uint64_t i = 0; i < UINT64_C(1) << g->bits[1] && children < FIRST_PROBES; i++) {
		const uint8_t *word = xc_jemalloc_peek(s->process->space, node + 8 * i, buf, 8);
		xc_addr child = word ? xc_jemalloc_word(word) : 0;
		s->read += 8;
		if (!word || (child && !is_node(s->process, child)))
			return (struct verdict){0};
		if (!child)
			continue;
		children++;
		struct verdict leaf = classify_leaf(s, child);
		if (leaf.fit && index_of(g, 1, leaf.key) == i && leaf.fit > v.fit)
			v = leaf;
	}
	return v;
}

/* Is the word at `at`, whose value is `node`, part of a root? Then the root's beginning. */
static bool root_by_word(struct search *s, xc_addr at, xc_addr node, xc_addr *root_out)
{
	if (!is_node(s->process, node))
		return false;
	struct verdict v = s->g->levels == 2 ? classify_leaf(s, node) : classify_node(s, node);
	uint64_t before = 8 * index_of(s->g, 0, v.key);
	if (v.fit < ENOUGH || before > at - s->lo || !xc_inside(at - before, root_size(s->g), s->lo, s->hi))
		return false;
	*root_out = at - before;
	return true;
}

/* Can the first word point to a node? Then the following words that are not 0 must do so too. Without this test
 * each pointer in the program's own tables would have to be followed. */
static bool may_be_node(const uint8_t *bytes, uint64_t len)
{
	if (xc_jemalloc_word(bytes) == 0)
		return false;
	for (uint64_t i = 0; i < NEIGHBOURS && i * 8 + 8 <= len; i++) {
		uint64_t word = xc_jemalloc_word(bytes + i * 8), before = i ? xc_jemalloc_word(bytes + i * 8 - 8) : 0;
		if (word && (word < PAGE || word % ALIGNMENT || word >> 57))
			return false;
		if (word && before && (word > before ? word - before : before - word) < NODE_MIN)
			return false;
	}
	return true;
}

/* Is it part of a root of any shape? */
static bool root_of_any_shape(struct search *s, xc_addr at, xc_addr node, struct xc_jemalloc_tree *tree)
{
	for (size_t i = 0; i < XC_COUNT(shapes); i++) {
		tree->geometry = geometry_of(shapes[i][0], shapes[i][1]);
		s->g = &tree->geometry;
		if (root_size(s->g) <= s->hi - s->lo + 1 && root_by_word(s, at, node, &tree->root))
			return true;
	}
	return false;
}

/* Examines each word of the data. */
static bool search_data(struct search *s, struct xc_jemalloc_tree *tree)
{
	struct xc_window window;
	bool found = false;
	uint64_t len = 0;
	xc_window_init(&window, s->process->space);
	for (xc_addr at = s->lo; at < s->hi && !found && s->read < budget; at += len) {
		const uint8_t *bytes = xc_window_run(&window, at, s->hi - at + 1, &len);
		len = bytes ? len & ~(uint64_t)7 : PAGE;
		len = len ? len : 8;
		for (uint64_t i = 0; bytes && i + 8 <= len && !found && s->read < budget; i += 8)
			if (may_be_node(bytes + i, len - i))
				found = root_of_any_shape(s, at + i, xc_jemalloc_word(bytes + i), tree);
	}
	xc_window_fini(&window);
	return found;
}

/* The next run of writable mappings within a module, from mapping *at on. */
static bool next_data(struct search *s, size_t *at)
{
	const struct xc_process *process = s->process;
	bool some = false;
	for (; *at < process->mapping_count; ++*at) {
		const struct xc_mapping *m = &process->mappings[*at];
		bool in = m->writable && m->hi >= s->module->lo && m->lo <= s->module->hi;
		if (some && (!in || m->lo != s->hi + 1))
			return true;
		if (in && !some)
			s->lo = m->lo > s->module->lo ? m->lo : (s->module->lo + 7) & ~(xc_addr)7;
		if (in)
			s->hi = m->hi < s->module->hi ? m->hi : s->module->hi;
		some = some || in;
	}
	return some;
}

static bool find_by_shape(const struct xc_jemalloc *je, struct xc_module *module, struct xc_jemalloc_tree *tree)
{
	struct search s = {.process = je->heap->process, .module = module};
	for (size_t at = 0; next_data(&s, &at);)
		if (s.hi - s.lo < MODULE_MAX && s.hi - s.lo >= ROOT_MIN && search_data(&s, tree)) {
			tree->module = module;
			return true;
		}
	return false;
}

/* ---- by symbols ---- */

static const char *const prefixes[] = {"je_", "_rjem_je_", "", "__je_"};
static const char *const names[] = {"arena_emap_global", "extents_rtree"}; /* 5.3, and up to 5.2 */

/* The symbol is that of a struct that ends with the root: its size shows the number of levels. */
static bool fits_symbol(struct xc_jemalloc_tree *tree, xc_addr addr, uint64_t size)
{
	for (size_t i = 0; i < XC_COUNT(shapes); i++) {
		struct xc_jemalloc_geometry g = geometry_of(shapes[i][0], shapes[i][1]);
		uint64_t before = size - root_size(&g);
		if (size < root_size(&g) || before > SLACK)
			continue;
		tree->geometry = g;
		tree->root = addr + before;
		return true;
	}
	return false;
}

static bool find_by_symbol(const struct xc_process *process, const char *prefix, struct xc_jemalloc_tree *tree)
{
	char name[64];
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		xc_addr addr;
		snprintf(name, sizeof name, "%s%s", prefix, names[i]);
		const struct xc_symbol *symbol = xc_symbol_find(process, name, &tree->module, &addr);
		if (symbol && symbol->type == STT_OBJECT && fits_symbol(tree, addr, symbol->size))
			return true;
	}
	return false;
}

/* ---- its nodes ---- */

static void add_leaf(struct xc_jemalloc_tree *tree, xc_addr key, xc_addr addr)
{
	tree->leaves = xc_grow(tree->leaves, tree->leaf_count, &tree->leaf_capacity, sizeof *tree->leaves);
	tree->leaves[tree->leaf_count++] = (struct xc_jemalloc_leaf){key, addr};
}

struct descent {
	const struct xc_process *process;
	struct xc_jemalloc_tree *tree;
	struct xc_window window;
	unsigned middles; /* nodes of the middle level that were read */
};

static void descend(struct descent *d, unsigned level, xc_addr node, xc_addr key)
{
	const struct xc_jemalloc_geometry *g = &d->tree->geometry;
	for (uint64_t i = 0; i < UINT64_C(1) << g->bits[level]; i++) {
		uint64_t child;
		if (!xc_window_word(&d->window, node + 8 * i, &child) || child == 0)
			continue;
		xc_addr below = key | i << shift_of(g, level);
		if (!is_node(d->process, child))
			d->tree->bad_nodes++;
		else if (level + 2 == g->levels)
			add_leaf(d->tree, below, child);
		else if (d->middles++ < MIDDLES)
			descend(d, level + 1, child, below);
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct xc_jemalloc_leaf *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_key(const void *a, const void *b)
{
	const struct xc_jemalloc_leaf *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Leaves never overlap. Otherwise a hostile tree could be far larger than its memory. */
static void drop_overlapping(struct xc_jemalloc_tree *tree)
{
	uint64_t size = leaf_size(&tree->geometry);
	size_t kept = 0;
	if (tree->leaf_count == 0)
		return;
	qsort(tree->leaves, tree->leaf_count, sizeof *tree->leaves, by_addr);
	for (size_t i = 0; i < tree->leaf_count; i++)
		if (kept == 0 || tree->leaves[i].addr - tree->leaves[kept - 1].addr >= size)
			tree->leaves[kept++] = tree->leaves[i];
	tree->bad_nodes += tree->leaf_count - kept;
	tree->leaf_count = kept;
	qsort(tree->leaves, kept, sizeof *tree->leaves, by_key);
}

static void read_nodes(const struct xc_process *process, struct xc_jemalloc_tree *tree)
{
	struct descent d = {.process = process, .tree = tree};
	xc_window_init(&d.window, process->space);
	descend(&d, 0, tree->root, 0);
	xc_window_fini(&d.window);
	drop_overlapping(tree);
}

/* ---- finding ---- */

static bool known(const struct xc_jemalloc_tree *trees, size_t count, xc_addr root)
{
	for (size_t i = 0; i < count; i++)
		if (trees[i].root == root)
			return true;
	return false;
}

static size_t find_named(struct xc_heap *heap, struct xc_jemalloc_tree *trees, const char **why_out)
{
	size_t count = 0;
	for (size_t i = 0; i < XC_COUNT(prefixes); i++) {
		struct xc_jemalloc_tree tree = {.prefix = prefixes[i]};
		if (!find_by_symbol(heap->process, prefixes[i], &tree) || known(trees, count, tree.root))
			continue;
		read_nodes(heap->process, &tree);
		if (tree.leaf_count)
			trees[count++] = tree;
		else if (tree.bad_nodes)
			*why_out = xc_arena_printf(&heap->memory,
						   "the radix tree of jemalloc in %s at 0x%llx has no readable leaf",
						   tree.module->name, (unsigned long long)tree.root);
	}
	return count;
}

size_t xc_jemalloc_find_trees(struct xc_jemalloc *je, const char **why_out)
{
	const struct xc_process *process = je->heap->process;
	struct xc_jemalloc_tree *trees = je->trees;
	size_t count = find_named(je->heap, trees, why_out);
	for (size_t i = 0; i < process->module_count && count < XC_JEMALLOC_TREES; i++) {
		struct xc_jemalloc_tree tree = {0};
		bool have = false;
		for (size_t k = 0; k < count; k++)
			have = have || trees[k].module == process->modules[i];
		if (have || !find_by_shape(je, process->modules[i], &tree))
			continue;
		read_nodes(process, &tree);
		if (tree.leaf_count)
			trees[count++] = tree;
	}
	return count;
}

/* ---- its entries ---- */

static void each_of_leaf(const struct xc_space *space, const struct xc_jemalloc_tree *tree,
			 const struct xc_jemalloc_leaf *leaf, xc_jemalloc_entry_fn *each, void *context,
			 uint64_t *unreadable_out)
{
	const struct xc_jemalloc_geometry *g = &tree->geometry;
	uint8_t buf[PAGE];
	for (uint64_t at = 0; at < leaf_size(g); at += PAGE) {
		const uint8_t *page = xc_jemalloc_peek(space, leaf->addr + at, buf, PAGE);
		*unreadable_out += page ? 0 : PAGE;
		for (unsigned i = 0; page && i < PAGE; i += g->entry) {
			if (xc_jemalloc_word(page + i) == 0)
				continue;
			struct xc_jemalloc_entry entry = decode(g, page + i);
			entry.key = leaf->key | (at + i) / g->entry << g->lg_page;
			if (entry.edata)
				each(context, &entry);
		}
	}
}

void xc_jemalloc_each_entry(const struct xc_space *space, const struct xc_jemalloc_tree *tree,
			    xc_jemalloc_entry_fn *each, void *context, uint64_t *unreadable_out)
{
	for (size_t i = 0; i < tree->leaf_count; i++)
		each_of_leaf(space, tree, &tree->leaves[i], each, context, unreadable_out);
}
