#include "claim_wire.h"

#include <string.h>

#include "../dwarf/lookup.h"

/* ---- telling ---- */

static const struct xc_column block_columns[] = {
	{.key = "addr", .label = "addr", .kind = XC_FIELD_ADDRESS},
	{.key = "size", .label = "size", .kind = XC_FIELD_BYTES},
	{.key = "type", .label = "type", .kind = XC_FIELD_TEXT},
	{.key = "array", .label = "array", .kind = XC_FIELD_BOOL},
	{.key = "what", .label = "what", .kind = XC_FIELD_TEXT},
};
static const struct xc_column edge_columns[] = {
	{.key = "from", .label = "from", .kind = XC_FIELD_ADDRESS},
	{.key = "to", .label = "to", .kind = XC_FIELD_ADDRESS},
};
static const struct xc_column root_columns[] = {{.key = "addr", .label = "addr", .kind = XC_FIELD_ADDRESS}};

static struct xc_table *begin(struct xc_section *s, const char *key, const struct xc_column *columns, size_t count,
			      size_t rows)
{
	struct xc_table *table = xc_section_table(s, key, columns, count);
	xc_table_reserve(s, table, rows);
	return table;
}

void xc_claims_tell(struct xc_section *s, struct xc_heap *heap)
{
	const struct xc_claims *claims = heap->claims;
	if (!claims)
		return;
	struct xc_table *table = begin(s, "blocks", block_columns, XC_COUNT(block_columns), claims->count);
	for (size_t i = 0; i < claims->count; i++) {
		const struct xc_heap_claim *c = &claims->items[i];
		const struct xc_cell row[] = {xc_cell_address(c->addr), xc_cell_bytes(c->size),
					      c->type ? xc_cell_text(xc_type_name(c->type)) : xc_cell_null(NULL),
					      xc_cell_bool(c->is_array), xc_cell_text(c->what ? c->what : "")};
		xc_table_row(s, table, row);
	}
	table = begin(s, "edges", edge_columns, XC_COUNT(edge_columns), claims->edge_count);
	for (size_t i = 0; i < claims->edge_count; i++) {
		const struct xc_cell row[] = {xc_cell_address(claims->edges[i].from),
					      xc_cell_address(claims->edges[i].to)};
		xc_table_row(s, table, row);
	}
	table = begin(s, "roots", root_columns, XC_COUNT(root_columns), claims->root_count);
	for (size_t i = 0; i < claims->root_count; i++) {
		const struct xc_cell row[] = {xc_cell_address(claims->roots[i].addr)};
		xc_table_row(s, table, row);
	}
	xc_claims_free(heap->claims);
	heap->claims = NULL;
}

/* ---- taking ---- */

/* Claims come in runs of one type: the last one looked up is kept. */
struct taker {
	struct xc_heap *heap;
	const char *name;
	const struct xc_type *type;
};

static const struct xc_type *type_named(struct taker *t, const char *name)
{
	static const char *const keywords[] = {"struct ", "union ", "enum ", "class "};
	struct xc_definition found;
	if (t->name && strcmp(t->name, name) == 0)
		return t->type;
	struct xc_query query = {.name = name, .kinds = XC_NAME_TYPE};
	for (size_t i = 0; i < XC_COUNT(keywords); i++)
		if (strncmp(name, keywords[i], strlen(keywords[i])) == 0)
			query.name = name + strlen(keywords[i]);
	t->name = name;
	t->type = xc_lookup_one(t->heap->process, &query, &found)
			  ? xc_type_get(xc_types_of(t->heap->process), &found.die)
			  : NULL;
	return t->type;
}

static struct xc_error *take_block(struct taker *t, const struct xc_cell *row)
{
	const struct xc_heap_claim claim = {
		.addr = row[0].number,
		.size = row[1].number,
		.type = row[2].kind == XC_FIELD_TEXT ? type_named(t, row[2].text) : NULL,
		.is_array = row[3].number != 0,
		.what = row[4].text,
	};
	return xc_claim_add(t->heap, &claim);
}

static struct xc_error *take_edge(struct taker *t, const struct xc_cell *row)
{
	return xc_claim_add_edge(t->heap, row[0].number, row[1].number);
}

static struct xc_error *take_root(struct taker *t, const struct xc_cell *row)
{
	return xc_claim_add_root(t->heap, row[0].number);
}

static const struct {
	const char *key;
	const struct xc_column *columns;
	size_t count;
	struct xc_error *(*take)(struct taker *taker, const struct xc_cell *row);
} tables[] = {
	{"blocks", block_columns, XC_COUNT(block_columns), take_block},
	{"edges", edge_columns, XC_COUNT(edge_columns), take_edge},
	{"roots", root_columns, XC_COUNT(root_columns), take_root},
};

static bool has_columns(const struct xc_table *table, const struct xc_column *columns, size_t count)
{
	if (table->column_count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(table->columns[i].key, columns[i].key) != 0 || table->columns[i].kind != columns[i].kind)
			return false;
	return true;
}

static struct xc_error *take_table(struct taker *t, const struct xc_item *item)
{
	for (size_t i = 0; i < XC_COUNT(tables); i++) {
		if (strcmp(item->key, tables[i].key) != 0 ||
		    !has_columns(item->table, tables[i].columns, tables[i].count))
			continue;
		for (size_t row = 0; row < item->table->row_count; row++) {
			struct xc_error *err = tables[i].take(t, item->table->cells + row * tables[i].count);
			if (err)
				return err;
		}
		return NULL;
	}
	return xc_error_new(XC_ERR_FORMAT, "a table '%.40s' is none of claims", item->key);
}

struct xc_error *xc_claims_take(struct xc_heap *heap, const struct xc_section *section)
{
	struct taker taker = {.heap = heap};
	struct xc_error *err = NULL;
	for (const struct xc_item *item = section->items; item && !err; item = item->next)
		if (item->kind == XC_ITEM_TABLE)
			err = take_table(&taker, item);
	return err;
}
