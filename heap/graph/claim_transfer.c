#include "heap/graph/claim_transfer.h"

#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/name.h"

/* ---- writing ---- */

static const struct xc_column block_columns[] = {
	{.key = "addr", .label = "addr", .kind = XC_FIELD_ADDRESS},
	{.key = "size", .label = "size", .kind = XC_FIELD_BYTES},
	{.key = "type", .label = "type", .kind = XC_FIELD_TEXT},
	{.key = "array", .label = "array", .kind = XC_FIELD_BOOL},
	{.key = "what", .label = "what", .kind = XC_FIELD_TEXT},
	{.key = "alone", .label = "alone", .kind = XC_FIELD_BOOL},
	{.key = "free", .label = "free", .kind = XC_FIELD_BOOL},
};
static const struct xc_column edge_columns[] = {
	{.key = "from", .label = "from", .kind = XC_FIELD_ADDRESS},
	{.key = "to", .label = "to", .kind = XC_FIELD_ADDRESS},
};
static const struct xc_column root_columns[] = {{.key = "addr", .label = "addr", .kind = XC_FIELD_ADDRESS}};
static const struct xc_column rule_columns[] = {
	{.key = "type", .label = "type", .kind = XC_FIELD_TEXT},
	{.key = "in", .label = "in", .kind = XC_FIELD_COUNT},
	{.key = "field", .label = "field", .kind = XC_FIELD_TEXT},
	{.key = "by", .label = "by", .kind = XC_FIELD_TEXT},
	{.key = "value", .label = "value", .kind = XC_FIELD_ADDRESS},
	{.key = "cast", .label = "cast", .kind = XC_FIELD_TEXT},
	{.key = "as", .label = "as", .kind = XC_FIELD_COUNT},
};
static const struct xc_column header_columns[] = {
	{.key = "pointer", .label = "pointer", .kind = XC_FIELD_TEXT},
	{.key = "at", .label = "at", .kind = XC_FIELD_ADDRESS},
	{.key = "mask", .label = "mask", .kind = XC_FIELD_COUNT},
	{.key = "value", .label = "value", .kind = XC_FIELD_COUNT},
	{.key = "header", .label = "header", .kind = XC_FIELD_TEXT},
};

static struct xc_table *begin(struct xc_section *s, const char *key, const struct xc_column *columns, size_t count,
			      size_t rows)
{
	struct xc_table *table = xc_section_table(s, key, columns, count);
	xc_table_reserve(s, table, rows);
	return table;
}

static void report_rules(struct xc_section *s, const struct xc_claims *claims)
{
	struct xc_table *table = begin(s, "rules", rule_columns, XC_COUNT(rule_columns), claims->rule_count);
	for (size_t i = 0; i < claims->rule_count; i++) {
		const struct xc_claim_rule *r = &claims->rules[i];
		const struct xc_cell row[] = {
			xc_cell_text(r->type),     xc_cell_count(r->in),
			xc_cell_text(r->field),    r->by ? xc_cell_text(r->by) : xc_cell_null(NULL),
			xc_cell_address(r->value), xc_cell_text(r->cast),
			xc_cell_count(r->as)};
		xc_table_row(s, table, row);
	}
	table = begin(s, "headers", header_columns, XC_COUNT(header_columns), claims->header_count);
	for (size_t i = 0; i < claims->header_count; i++) {
		const struct xc_claim_header *h = &claims->headers[i];
		const struct xc_cell row[] = {xc_cell_text(h->pointer), xc_cell_address((uint64_t)(int64_t)h->at),
					      xc_cell_count(h->mask), xc_cell_count(h->value), xc_cell_text(h->header)};
		xc_table_row(s, table, row);
	}
}

void xc_claim_transfer_report(struct xc_section *s, struct xc_heap *heap)
{
	const struct xc_claims *claims = heap->claims;
	if (!claims)
		return;
	struct xc_table *table = begin(s, "blocks", block_columns, XC_COUNT(block_columns), claims->count);
	for (size_t i = 0; i < claims->count; i++) {
		const struct xc_heap_claim *c = &claims->items[i];
		const struct xc_cell row[] = {xc_cell_address(c->addr),
					      xc_cell_bytes(c->size),
					      c->type ? xc_cell_text(xc_type_name(c->type)) : xc_cell_null(NULL),
					      xc_cell_bool(c->is_array),
					      xc_cell_text(c->what ? c->what : ""),
					      xc_cell_bool(c->is_alone),
					      xc_cell_bool(c->is_free)};
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
	report_rules(s, claims);
	xc_claims_free(heap->claims);
	heap->claims = NULL;
}

/* ---- reading ---- */

/* Claims come in runs of one type, so the last type looked up is kept. */
struct taker {
	struct xc_heap *heap;
	const char *name;
	const struct xc_type *type;
	uint32_t variants; /* of other plugins: the numbers of this one's variants begin after them */
};

static const struct xc_type *type_named(struct taker *t, const char *name)
{
	struct xc_definition found;
	if (t->name && strcmp(t->name, name) == 0)
		return t->type;
	struct xc_query query = {.name = xc_name_without_keyword(name), .kinds = XC_NAME_TYPE};
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
		.is_alone = row[5].number != 0,
		.is_free = row[6].number != 0,
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

/* A variant's number among those of all plugins. */
static struct xc_error *renumber(struct taker *t, uint64_t number, uint32_t *number_out)
{
	struct xc_error *err = NULL;
	if (number > XC_CLAIM_RULES)
		return xc_error_new(XC_ERR_FORMAT, "a variant has the number %llu", (unsigned long long)number);
	*number_out = number ? t->variants + (uint32_t)number : 0;
	for (uint32_t given; !err && (!t->heap->claims || t->heap->claims->variants < *number_out);)
		err = xc_claim_variant(t->heap, &given);
	return err;
}

static bool is_text(const struct xc_cell *cell)
{
	return cell->kind == XC_FIELD_TEXT && cell->text;
}

static struct xc_error *take_rule(struct taker *t, const struct xc_cell *row)
{
	if (!is_text(&row[0]) || !is_text(&row[2]) || !is_text(&row[5]))
		return xc_error_new(XC_ERR_FORMAT, "a rule without type, field or cast");
	struct xc_claim_rule rule = {.type = row[0].text,
				     .field = row[2].text,
				     .by = is_text(&row[3]) ? row[3].text : NULL,
				     .value = row[4].number,
				     .cast = row[5].text};
	struct xc_error *err = renumber(t, row[1].number, &rule.in);
	if (!err)
		err = renumber(t, row[6].number, &rule.as);
	return err ? err : xc_claim_add_rule(t->heap, &rule);
}

static struct xc_error *take_header(struct taker *t, const struct xc_cell *row)
{
	if (!is_text(&row[0]) || !is_text(&row[4]))
		return xc_error_new(XC_ERR_FORMAT, "a header without a name");
	const struct xc_claim_header header = {.pointer = row[0].text,
					       .at = (int32_t)(int64_t)row[1].number,
					       .mask = (uint8_t)row[2].number,
					       .value = (uint8_t)row[3].number,
					       .header = row[4].text};
	return xc_claim_add_header(t->heap, &header);
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
	{"rules", rule_columns, XC_COUNT(rule_columns), take_rule},
	{"headers", header_columns, XC_COUNT(header_columns), take_header},
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

struct xc_error *xc_claim_transfer_load(struct xc_heap *heap, const struct xc_section *section)
{
	struct taker taker = {.heap = heap, .variants = heap->claims ? heap->claims->variants : 0};
	struct xc_error *err = NULL;
	for (const struct xc_item *item = section->items; item && !err; item = item->next)
		if (item->kind == XC_ITEM_TABLE)
			err = take_table(&taker, item);
	return err;
}
