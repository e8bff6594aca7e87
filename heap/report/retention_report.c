/* The memory that types retain is summed on a walk through the tree of dominators: a block counts if no block of
 * its type is above it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap/graph/dominator.h"
#include "heap/graph/retention.h"
#include "heap/types/typing.h"

/* ---- holders ---- */

static void add_thread(const struct xc_process *process, uint32_t number, struct xc_text *text)
{
	if (number >= process->thread_count) {
		xc_text_add(text, "a thread");
		return;
	}
	xc_text_printf(text, "thread %d", (int)process->threads[number].tid);
	if (process->threads[number].name) {
		xc_text_add(text, " (");
		xc_text_name(text, process->threads[number].name);
		xc_text_char(text, ')');
	}
}

static void add_mapping(const struct xc_process *process, uint32_t number, struct xc_text *text)
{
	if (number >= process->mapping_count) {
		xc_text_add(text, "a mapping");
		return;
	}
	const struct xc_mapping *m = &process->mappings[number];
	const char *name = m->label ? m->label : m->path;
	xc_text_printf(text, "mapping 0x%" PRIx64, m->lo);
	if (name) {
		xc_text_char(text, ' ');
		xc_text_name(text, name);
	}
}

/* Appends "module redis-server", "thread 4711 (redis-server)", "mapping 0x7f…". */
static void describe_holder(const struct xc_heap *heap, const struct xc_holder *holder, struct xc_text *text)
{
	const struct xc_process *process = heap->process;
	switch (holder->kind) {
	case XC_ROOT_GLOBAL:
		xc_text_add(text, "data of ");
		xc_text_name(text,
			     holder->owner < process->module_count ? process->by_address[holder->owner]->name : "?");
		break;
	case XC_ROOT_STACK:
		add_thread(process, holder->owner, text);
		break;
	case XC_ROOT_MAPPING:
		add_mapping(process, holder->owner, text);
		break;
	default:
		xc_text_add(text, xc_root_kind_word((enum xc_root_kind)holder->kind));
	}
}

static void add_holder(struct xc_section *s, struct xc_table *table, const struct xc_heap *heap,
		       const struct xc_holder *holder)
{
	struct xc_text text = {0};
	describe_holder(heap, holder, &text);
	const struct xc_cell row[] = {xc_cell_bytes(holder->bytes), xc_cell_count(holder->count),
				      xc_cell_count(holder->roots), xc_cell_text(xc_text_string(&text))};
	xc_table_row(s, table, row);
	xc_text_fini(&text);
}

void xc_retention_by_holder(struct xc_section *s, const struct xc_retention *r, size_t limit)
{
	static const struct xc_column columns[] = {
		{"bytes", "RETAINED", XC_FIELD_BYTES, false},
		{"blocks", "BLOCKS", XC_FIELD_COUNT, false},
		{"roots", "POINTERS", XC_FIELD_COUNT, false},
		{"holder", "BY", XC_FIELD_TEXT, false},
	};
	struct xc_table *table = xc_section_table(s, "holders", columns, XC_COUNT(columns));
	const struct xc_cell shared[] = {xc_cell_bytes(r->shared_bytes), xc_cell_count(r->shared_count),
					 xc_cell_null(NULL), xc_cell_text("several of these together")};
	for (size_t i = 0; i < r->holder_count && (limit == 0 || i < limit); i++)
		add_holder(s, table, r->heap, &r->holders[i]);
	if (r->shared_count)
		xc_table_row(s, table, shared);
}

/* ---- types ---- */

struct type_row {
	const char *name;
	uint64_t retained, retained_blocks, bytes, blocks;
	uint32_t above; /* blocks of the type on the way from the root of the walk */
};

struct types {
	const struct xc_retention *retention;
	const struct xc_typing *typing;
	struct type_row *rows;
	size_t row_count;
	uint32_t *row_of; /* by item of the typing */
};

static const char untyped[] = "(untyped)";

static int by_name(const void *a, const void *b)
{
	const struct type_row *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int by_retained(const void *a, const void *b)
{
	const struct type_row *x = a, *y = b;
	return x->retained != y->retained ? (x->retained > y->retained ? -1 : 1) : strcmp(x->name, y->name);
}

static const char *item_name(const struct xc_typing *typing, size_t item)
{
	return item && typing->items[item].type ? xc_type_name(typing->items[item].type) : untyped;
}

/* A row for each name; several items are of one type. */
static void make_rows(struct types *t)
{
	size_t items = t->typing->item_count > 0 ? t->typing->item_count : 1, kept = 0;
	t->rows = xc_alloc(items * sizeof *t->rows);
	t->row_of = xc_alloc(items * sizeof *t->row_of);
	for (size_t i = 0; i < items; i++)
		t->rows[i].name = item_name(t->typing, i);
	qsort(t->rows, items, sizeof *t->rows, by_name);
	for (size_t i = 0; i < items; i++)
		if (i == 0 || strcmp(t->rows[i].name, t->rows[kept - 1].name) != 0)
			t->rows[kept++] = t->rows[i];
	t->row_count = kept;
	for (size_t i = 0; i < items; i++) {
		const struct type_row key = {.name = item_name(t->typing, i)};
		const struct type_row *row = bsearch(&key, t->rows, kept, sizeof key, by_name);
		t->row_of[i] = (uint32_t)(row - t->rows);
	}
}

static void arrive(void *user, uint32_t block)
{
	const struct types *t = user;
	const struct xc_retention *r = t->retention;
	struct type_row *row = &t->rows[t->row_of[t->typing->by_block[block]]];
	if (row->above++ == 0) {
		row->retained += r->bytes[block];
		row->retained_blocks += r->count[block];
	}
	row->bytes += xc_block_size(&r->heap->blocks, block);
	row->blocks++;
}

static void leave(void *user, uint32_t block)
{
	const struct types *t = user;
	t->rows[t->row_of[t->typing->by_block[block]]].above--;
}

static void add_types(struct xc_section *s, const struct types *t, size_t limit)
{
	static const struct xc_column columns[] = {
		{"retained", "RETAINED", XC_FIELD_BYTES, false}, {"retained_blocks", "BLOCKS", XC_FIELD_COUNT, false},
		{"bytes", "OWN", XC_FIELD_BYTES, false},         {"blocks", "OF THESE", XC_FIELD_COUNT, false},
		{"type", "TYPE", XC_FIELD_TEXT, false},
	};
	struct xc_table *table = xc_section_table(s, "types", columns, XC_COUNT(columns));
	for (size_t i = 0, told = 0; i < t->row_count && (limit == 0 || told < limit); i++) {
		const struct type_row *row = &t->rows[i];
		const struct xc_cell cells[] = {xc_cell_bytes(row->retained), xc_cell_count(row->retained_blocks),
						xc_cell_bytes(row->bytes), xc_cell_count(row->blocks),
						row->name == untyped ? xc_cell_null("unknown")
								     : xc_cell_text(row->name)};
		if (row->blocks == 0)
			continue;
		xc_table_row(s, table, cells);
		told++;
	}
}

void xc_retention_by_type(struct xc_section *s, const struct xc_retention *r, size_t limit)
{
	struct types t = {.retention = r, .typing = r->heap->typing};
	struct xc_dominator_tree tree;
	if (!t.typing)
		return;
	make_rows(&t);
	xc_dominator_tree_init(&tree, r->dominator, (uint32_t)r->heap->blocks.count);
	for (uint32_t i = 0; i < r->heap->blocks.count; i++)
		if (r->bytes[i] && r->dominator[i] == XC_NO_BLOCK)
			xc_dominator_tree_walk(&tree, i, arrive, leave, &t);
	xc_dominator_tree_fini(&tree);
	qsort(t.rows, t.row_count, sizeof *t.rows, by_retained);
	add_types(s, &t, limit);
	free(t.rows);
	free(t.row_of);
}
