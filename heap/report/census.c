#include "heap/report/census.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/stacktree.h"
#include "heap/graph/graph.h"
#include "heap/report/memory_tree.h"
#include "heap/types/typing.h"

static int by_name(const void *a, const void *b)
{
	const struct xc_census_row *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static struct xc_census_row *add_row(struct xc_census *c, struct xc_census_rows *rows, const char *name)
{
	rows->items = xc_grow(rows->items, rows->count, &rows->capacity, sizeof *rows->items);
	rows->items[rows->count] = (struct xc_census_row){.name = xc_arena_strdup(&c->memory, name)};
	return &rows->items[rows->count++];
}

static size_t find_row(const struct xc_census_rows *rows, const char *name)
{
	const struct xc_census_row key = {.name = name};
	const struct xc_census_row *found =
		rows->count ? bsearch(&key, rows->items, rows->count, sizeof key, by_name) : NULL;
	return found ? (size_t)(found - rows->items) : SIZE_MAX;
}

/* Sort by name and keep one of each. */
static void finish_rows(struct xc_census_rows *rows)
{
	size_t kept = 0;
	if (rows->count)
		qsort(rows->items, rows->count, sizeof *rows->items, by_name);
	for (size_t i = 0; i < rows->count; i++) {
		if (kept && strcmp(rows->items[kept - 1].name, rows->items[i].name) == 0) {
			rows->items[kept - 1].blocks += rows->items[i].blocks;
			rows->items[kept - 1].bytes += rows->items[i].bytes;
		} else {
			rows->items[kept++] = rows->items[i];
		}
	}
	rows->count = kept;
}

/* ---- types ---- */

static const char untyped[] = "(untyped)";

static const char *name_of(const struct xc_typed *typed)
{
	return typed->type ? xc_type_name(typed->type) : untyped;
}

/* The row of each item of the typing: several items may have one type. */
static uint32_t *type_rows(struct xc_census *c, const struct xc_typing *typing)
{
	uint32_t *row_of = xc_alloc((typing->item_count + 1) * sizeof *row_of);
	add_row(c, &c->types, untyped);
	for (size_t i = 1; i < typing->item_count; i++)
		add_row(c, &c->types, name_of(&typing->items[i]));
	finish_rows(&c->types);
	row_of[0] = (uint32_t)find_row(&c->types, untyped);
	for (size_t i = 1; i < typing->item_count; i++)
		row_of[i] = (uint32_t)find_row(&c->types, name_of(&typing->items[i]));
	return row_of;
}

static void count_blocks(struct xc_census *c, const struct xc_heap *heap, const struct xc_typing *typing)
{
	const struct xc_blocks *blocks = &heap->blocks;
	uint32_t *row_of = type_rows(c, typing);
	c->addrs = xc_alloc((blocks->count + 1) * sizeof *c->addrs);
	c->sizes = xc_alloc((blocks->count + 1) * sizeof *c->sizes);
	c->type_of = xc_alloc((blocks->count + 1) * sizeof *c->type_of);
	for (uint32_t block = 0; block < blocks->count; block++) {
		if (xc_block_state(blocks, block) != XC_BLOCK_LIVE)
			continue;
		uint64_t size = xc_block_size(blocks, block);
		uint32_t row = row_of[typing->by_block[block]];
		c->addrs[c->blocks] = xc_block_addr(blocks, block);
		c->sizes[c->blocks] = size;
		c->type_of[c->blocks++] = row;
		c->types.items[row].blocks++;
		c->types.items[row].bytes += size;
		c->bytes += size;
	}
	free(row_of);
}

/* ---- arenas and holders ---- */

static void count_arenas(struct xc_census *c, const struct xc_heap *heap)
{
	size_t at = 0;
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct xc_region *region = &heap->regions[i];
		struct xc_census_row *row = add_row(c, &c->arenas, heap->arenas[region->arena].name);
		while (at < c->blocks && c->addrs[at] < region->lo)
			at++;
		for (; at < c->blocks && c->addrs[at] <= region->hi; at++) {
			row->blocks++;
			row->bytes += c->sizes[at];
		}
	}
	finish_rows(&c->arenas);
}

/* The stack of the process's first thread, "stack of thread 812", becomes "stack of the main thread", so that two
 * runs can be compared. */
static const char *holder_name(const struct xc_process *process, const char *name, char *buf, size_t size)
{
	char own[32];
	int len = snprintf(own, sizeof own, "thread %d", (int)process->pid);
	size_t name_len = strlen(name);
	if (process->pid <= 0 || name_len < (size_t)len || strcmp(name + name_len - (size_t)len, own) != 0)
		return name;
	snprintf(buf, size, "%.*sthe main thread", (int)(name_len - (size_t)len), name);
	return buf;
}

/* Leaked blocks have no holder; their growth is the most important row. */
static void count_leaked(struct xc_census *c, struct xc_census_rows *rows, const struct xc_heap *heap)
{
	struct xc_census_row *row = add_row(c, rows, "(nothing: leaked)");
	for (uint32_t block = 0; heap->graph && block < heap->blocks.count; block++)
		if (xc_graph_leaked(heap->graph, block)) {
			row->blocks++;
			row->bytes += xc_block_size(&heap->blocks, block);
		}
}

/* The top level of a tree of all held memory. */
static struct xc_error *count_tops(struct xc_census *c, struct xc_census_rows *rows, struct xc_heap *heap,
				   enum xc_memory_tree_kind kind)
{
	char buf[256];
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "holders", "bytes");
	struct xc_error *err = xc_memory_tree_fill(&tree, heap, kind);
	xc_stacktree_finish(&tree);
	for (const struct xc_stacktree_node *node = tree.root.children; node; node = node->next) {
		struct xc_census_row *row = add_row(c, rows, holder_name(heap->process, node->name, buf, sizeof buf));
		row->blocks = node->items;
		row->bytes = node->total;
	}
	if (!err)
		count_leaked(c, rows, heap);
	finish_rows(rows);
	xc_stacktree_fini(&tree);
	return err;
}

static uint64_t run_of(const struct xc_process *process)
{
	uint64_t at, bytes;
	bool known = xc_process_auxv(process, AT_RANDOM, &at) &&
		     xc_space_peek_uint(process->space, at, sizeof bytes, &bytes);
	return known ? bytes : 0;
}

struct xc_error *xc_census_take(struct xc_heap *heap, struct xc_census *census_out)
{
	struct xc_typing *typing;
	struct xc_census census = {.run = run_of(heap->process)};
	struct xc_error *err = xc_typing_of(heap, &typing);
	if (err)
		return err;
	count_blocks(&census, heap, typing);
	count_arenas(&census, heap);
	if ((err = count_tops(&census, &census.holders, heap, XC_MEMORY_TREE_HEAP)) ||
	    (err = count_tops(&census, &census.modules, heap, XC_MEMORY_TREE_MODULES))) {
		xc_census_fini(&census);
		return err;
	}
	*census_out = census;
	return NULL;
}

void xc_census_fini(struct xc_census *census)
{
	free(census->types.items);
	free(census->arenas.items);
	free(census->holders.items);
	free(census->modules.items);
	free(census->addrs);
	free(census->sizes);
	free(census->type_of);
	xc_arena_fini(&census->memory);
	*census = (struct xc_census){.blocks = 0};
}
