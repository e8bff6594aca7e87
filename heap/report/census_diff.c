/* Compares two censuses. */
#include <stdlib.h>
#include <string.h>

#include "heap/report/census.h"

enum { EXAMPLES = 3 };

/* One name in both. */
struct change {
	const char *name;
	struct xc_census_row old, new;
	size_t row;                 /* in the new one; SIZE_MAX: gone */
	uint64_t fresh;             /* blocks that did not exist before */
	xc_addr examples[EXAMPLES]; /* the last ones in address order */
};

struct changes {
	struct change *items;
	size_t count, capacity;
};

static int64_t grown(const struct change *c)
{
	return (int64_t)(c->new.bytes - c->old.bytes);
}

static int by_growth(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (grown(x) != grown(y))
		return grown(x) > grown(y) ? -1 : 1;
	if (x->new.blocks - x->old.blocks != y->new.blocks - y->old.blocks)
		return (int64_t)(x->new.blocks - x->old.blocks) > (int64_t)(y->new.blocks - y->old.blocks) ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Both are sorted by name. */
static struct changes pair(const struct xc_census_rows *old, const struct xc_census_rows *new)
{
	struct changes changes = {0};
	size_t i = 0, k = 0;
	while (i < old->count || k < new->count) {
		int order = i == old->count ? 1 : k == new->count ? -1 : strcmp(old->items[i].name, new->items[k].name);
		changes.items = xc_grow(changes.items, changes.count, &changes.capacity, sizeof *changes.items);
		struct change *c = &changes.items[changes.count++];
		*c = (struct change){.row = order >= 0 ? k : SIZE_MAX};
		c->name = order >= 0 ? new->items[k].name : old->items[i].name;
		if (order <= 0)
			c->old = old->items[i++];
		if (order >= 0)
			c->new = new->items[k++];
	}
	return changes;
}

static bool changed(const struct change *c)
{
	return c->old.blocks != c->new.blocks || c->old.bytes != c->new.bytes || c->fresh;
}

static bool any_changed(const struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		if (changed(&changes->items[i]))
			return true;
	return false;
}

/* ---- new blocks ---- */

static bool same_process(const struct xc_census *old, const struct xc_census *new)
{
	return old->run && old->run == new->run;
}

static void add_fresh(struct change *c, xc_addr addr)
{
	memmove(c->examples + 1, c->examples, (EXAMPLES - 1) * sizeof *c->examples);
	c->examples[0] = addr;
	c->fresh++;
}

/* Blocks that exist only in the new one. A block with another size or type was freed and allocated again. */
static void find_fresh(const struct changes *changes, const struct xc_census *old, const struct xc_census *new)
{
	struct change **by_row = xc_alloc((new->types.count + 1) * sizeof *by_row);
	size_t at = 0;
	for (size_t i = 0; i < changes->count; i++)
		if (changes->items[i].row != SIZE_MAX)
			by_row[changes->items[i].row] = &changes->items[i];
	for (size_t i = 0; i < new->blocks; i++) {
		while (at < old->blocks && old->addrs[at] < new->addrs[i])
			at++;
		bool stayed =
			at < old->blocks && old->addrs[at] == new->addrs[i] && old->sizes[at] == new->sizes[i] &&
			strcmp(old->types.items[old->type_of[at]].name, new->types.items[new->type_of[i]].name) == 0;
		if (!stayed)
			add_fresh(by_row[new->type_of[i]], new->addrs[i]);
	}
	free(by_row);
}

/* ---- reporting ---- */

static struct xc_cell examples(const struct change *c)
{
	static char text[EXAMPLES * 24];
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < EXAMPLES && c->examples[i]; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s0x%llx", len ? " " : "",
					(unsigned long long)c->examples[i]);
	return len ? xc_cell_text(text) : xc_cell_null(NULL);
}

static void show(struct xc_section *s, const char *key, const char *label, const struct changes *changes, bool fresh,
		 size_t limit)
{
	const struct xc_column columns[] = {
		{.key = "name", .label = label, .kind = XC_FIELD_TEXT},
		{.key = "grown_bytes", .label = "GREW, BYTES", .kind = XC_FIELD_INTEGER},
		{.key = "grown_blocks", .label = "BLOCKS", .kind = XC_FIELD_INTEGER},
		{.key = "new_blocks", .label = "NEW", .kind = XC_FIELD_COUNT},
		{.key = "bytes_before", .label = "FROM", .kind = XC_FIELD_BYTES},
		{.key = "bytes", .label = "TO", .kind = XC_FIELD_BYTES},
		{.key = "blocks", .label = "BLOCKS NOW", .kind = XC_FIELD_COUNT},
		{.key = "newest", .label = "NEW ONES AT", .kind = XC_FIELD_TEXT, .verbose = true},
	};
	struct xc_table *table = xc_section_table(s, key, columns, XC_COUNT(columns));
	if (changes->count)
		qsort(changes->items, changes->count, sizeof *changes->items, by_growth);
	for (size_t i = 0, rows = 0; i < changes->count && rows < limit; i++) {
		const struct change *c = &changes->items[i];
		if (!changed(c))
			continue;
		const struct xc_cell row[] = {
			xc_cell_text(c->name),
			xc_cell_integer(grown(c)),
			xc_cell_integer((int64_t)(c->new.blocks - c->old.blocks)),
			fresh ? xc_cell_count(c->fresh) : xc_cell_null(NULL),
			xc_cell_bytes(c->old.bytes),
			xc_cell_bytes(c->new.bytes),
			xc_cell_count(c->new.blocks),
			fresh ? examples(c) : xc_cell_null(NULL),
		};
		xc_table_row(s, table, row);
		rows++;
	}
}

void xc_census_compare(struct xc_section *s, const struct xc_census *old, const struct xc_census *new, size_t limit)
{
	bool fresh = same_process(old, new);
	xc_section_bytes(s, "before", "live before", old->bytes);
	xc_section_count(s, "blocks_before", "blocks", old->blocks);
	xc_section_bytes(s, "after", "live after", new->bytes);
	xc_section_count(s, "blocks_after", "blocks", new->blocks);
	struct changes types = pair(&old->types, &new->types), arenas = pair(&old->arenas, &new->arenas),
		       holders = pair(&old->holders, &new->holders), modules = pair(&old->modules, &new->modules);
	if (fresh)
		find_fresh(&types, old, new);
	show(s, "types", "TYPE", &types, fresh, limit);
	show(s, "modules", "IN", &modules, false, limit);
	show(s, "holders", "HELD BY", &holders, false, limit);
	show(s, "arenas", "ARENA", &arenas, false, limit);
	if (!any_changed(&types) && !any_changed(&holders) && !any_changed(&arenas) && !any_changed(&modules))
		xc_section_message(s, XC_INFO, NULL, "nothing grew or shrank");
	if (!fresh)
		xc_section_message(s, XC_INFO, NULL,
				   "these are two runs of the program: addresses cannot show which blocks are new");
	free(types.items);
	free(arenas.items);
	free(holders.items);
	free(modules.items);
}
