#include "core/report/report_diff.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* A number of one report or of both. */
struct number {
	char *name; /* malloc'ed */
	enum xc_field_kind kind;
	int64_t old, new;
};

struct numbers {
	struct number *items;
	size_t count, capacity;
	bool is_new; /* the new report is being read */
};

static bool counts(const struct xc_cell *cell)
{
	return cell->kind == XC_FIELD_BYTES || cell->kind == XC_FIELD_COUNT || cell->kind == XC_FIELD_INTEGER;
}

/* Takes the name. */
static void add(struct numbers *n, char *name, const struct xc_cell *cell)
{
	n->items = xc_grow(n->items, n->count, &n->capacity, sizeof *n->items);
	struct number *added = &n->items[n->count++];
	*added = (struct number){.name = name, .kind = cell->kind};
	*(n->is_new ? &added->new : &added->old) = (int64_t)cell->number;
}

/* ---- reading ---- */

static void add_row(struct numbers *n, const struct xc_section *section, const struct xc_table *table, size_t row)
{
	const struct xc_cell *cells = table->cells + row * table->column_count;
	struct xc_text texts = {0};
	for (size_t i = 0; i < table->column_count; i++)
		if (cells[i].kind == XC_FIELD_TEXT && !cells[i].secret)
			xc_text_printf(&texts, "%s%s", texts.len ? ", " : "", cells[i].text);
	for (size_t i = 0; i < table->column_count; i++)
		if (counts(&cells[i]))
			add(n,
			    xc_asprintf("%s: %s: %s", section->title, xc_text_string(&texts), table->columns[i].label),
			    &cells[i]);
	xc_text_fini(&texts);
}

static void read_report(struct numbers *n, const struct xc_report *report, bool is_new)
{
	n->is_new = is_new;
	for (const struct xc_section *s = report->sections; s; s = s->next)
		for (const struct xc_item *item = s->items; item; item = item->next) {
			if (item->kind == XC_ITEM_FIELD && counts(&item->field.cell))
				add(n, xc_asprintf("%s: %s", s->title, item->field.label), &item->field.cell);
			for (size_t row = 0; item->kind == XC_ITEM_TABLE && row < item->table->row_count; row++)
				add_row(n, s, item->table, row);
		}
}

/* ---- comparing ---- */

static int by_name(const void *a, const void *b)
{
	const struct number *x = a, *y = b;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

static int by_growth(const void *a, const void *b)
{
	const struct number *x = a, *y = b;
	int64_t left = x->new - x->old, right = y->new - y->old;
	return left != right ? (left > right ? -1 : 1) : strcmp(x->name, y->name);
}

/* Numbers of the same name are added up: no text distinguishes their rows. */
static void merge(struct numbers *n)
{
	size_t kept = 0;
	if (n->count)
		qsort(n->items, n->count, sizeof *n->items, by_name);
	for (size_t i = 0; i < n->count; i++) {
		if (kept && by_name(&n->items[kept - 1], &n->items[i]) == 0) {
			n->items[kept - 1].old =
				(int64_t)((uint64_t)n->items[kept - 1].old + (uint64_t)n->items[i].old);
			n->items[kept - 1].new =
				(int64_t)((uint64_t)n->items[kept - 1].new + (uint64_t)n->items[i].new);
			free(n->items[i].name);
		} else {
			n->items[kept++] = n->items[i];
		}
	}
	n->count = kept;
	if (n->count)
		qsort(n->items, n->count, sizeof *n->items, by_growth);
}

static bool is_shown(const struct number *number, bool bytes)
{
	return number->old != number->new && (number->kind == XC_FIELD_BYTES) == bytes;
}

static void show(struct xc_section *into, const struct numbers *n, bool bytes, size_t limit)
{
	enum xc_field_kind kind = bytes ? XC_FIELD_BYTES : XC_FIELD_INTEGER;
	const struct xc_column columns[] = {
		{.key = "name", .label = bytes ? "PLUGINS' BYTES" : "PLUGINS' COUNTS", .kind = XC_FIELD_TEXT},
		{.key = "grown", .label = "GREW", .kind = XC_FIELD_INTEGER},
		{.key = "from", .label = "FROM", .kind = kind},
		{.key = "to", .label = "TO", .kind = kind},
	};
	struct xc_table *table = NULL;
	size_t rows = 0;
	for (size_t i = 0; i < n->count && rows < limit; i++) {
		const struct number *one = &n->items[i];
		if (!is_shown(one, bytes))
			continue;
		if (!table)
			table = xc_section_table(into, bytes ? "plugin_bytes" : "plugin_counts", columns,
						 XC_COUNT(columns));
		const struct xc_cell row[] = {
			xc_cell_text(one->name),
			xc_cell_integer(one->new - one->old),
			bytes ? xc_cell_bytes((uint64_t)one->old) : xc_cell_integer(one->old),
			bytes ? xc_cell_bytes((uint64_t)one->new) : xc_cell_integer(one->new),
		};
		xc_table_row(into, table, row);
		rows++;
	}
}

void xc_report_compare(struct xc_section *into, const struct xc_report *old, const struct xc_report *new, size_t limit)
{
	struct numbers n = {.items = NULL};
	read_report(&n, old, false);
	read_report(&n, new, true);
	merge(&n);
	show(into, &n, true, limit);
	show(into, &n, false, limit);
	for (size_t i = 0; i < n.count; i++)
		free(n.items[i].name);
	free(n.items);
}
