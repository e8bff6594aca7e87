/* report: a section is a list of items in the order of addition, so every renderer shows the producer's order.
 * Everything lives in the report's arena. Growing tables leave old copies of their cells there, in all at most the size
 * of the table. Keys are made unique here, so that no renderer can lose a field. */
#include "core/report/report.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/stacktree.h"

struct xc_tree_owner {
	struct xc_tree_owner *next;
	struct xc_stacktree tree;
};

struct xc_report *xc_report_new(const char *command)
{
	struct xc_report *report = xc_alloc(sizeof *report);
	report->command = xc_arena_strdup(&report->arena, command);
	report->schema = "xcore.report/1";
	report->sections_end = &report->sections;
	report->output_end = &report->output;
	return report;
}

void xc_report_answer(struct xc_report *report, const char *plugin, const char *command)
{
	report->schema = "xcore.run/1";
	report->plugin = xc_arena_strdup(&report->arena, plugin);
	report->command = xc_arena_strdup(&report->arena, command);
	report->is_answer = true;
	report->bare = true;
}

void xc_report_print(struct xc_report *report, const char *line, size_t len)
{
	struct xc_output_line *added = xc_arena_alloc(&report->arena, sizeof *added);
	char *text = xc_arena_alloc(&report->arena, len + 1);
	if (len)
		memcpy(text, line, len);
	added->text = text;
	added->len = len;
	*report->output_end = added;
	report->output_end = &added->next;
}

static void free_json(struct xc_section *s)
{
	for (struct xc_item *item = s ? s->items : NULL; item; item = item->next) {
		if (item->kind == XC_ITEM_DOCUMENT)
			json_decref(item->document.json);
		if (item->kind == XC_ITEM_FIELD)
			json_decref(item->field.json);
	}
}

void xc_report_free(struct xc_report *report)
{
	if (!report)
		return;
	free_json(report->target);
	free_json(report->run);
	for (struct xc_section *s = report->sections; s; s = s->next)
		free_json(s);
	for (struct xc_tree_owner *owner = report->trees; owner; owner = owner->next)
		xc_stacktree_fini(&owner->tree);
	xc_arena_fini(&report->arena);
	free(report);
}

static struct xc_section *new_section(struct xc_report *report, const char *key, const char *title)
{
	struct xc_section *s = xc_arena_alloc(&report->arena, sizeof *s);
	s->report = report;
	s->key = xc_arena_strdup(&report->arena, key);
	s->title = xc_arena_strdup(&report->arena, title);
	s->items_end = &s->items;
	return s;
}

struct xc_section *xc_report_section(struct xc_report *report, const char *key, const char *title)
{
	struct xc_section *s = new_section(report, key, title);
	*report->sections_end = s;
	report->sections_end = &s->next;
	return s;
}

struct xc_section *xc_report_target(struct xc_report *report)
{
	if (!report->target)
		report->target = new_section(report, "target", "Target");
	return report->target;
}

struct xc_section *xc_report_run(struct xc_report *report)
{
	if (!report->run)
		report->run = new_section(report, "run", "This run");
	return report->run;
}

struct xc_verdict *xc_report_verdict(struct xc_report *report)
{
	if (!report->verdict)
		report->verdict = xc_arena_alloc(&report->arena, sizeof *report->verdict);
	return report->verdict;
}

/* There are few facts: a copy per addition is cheap and needs no capacity in the struct. */
static const char **with_another(struct xc_report *report, const char **facts, size_t count, const char *fact)
{
	const char **grown = xc_arena_alloc(&report->arena, (count + 1) * sizeof *grown);
	if (count)
		memcpy(grown, facts, count * sizeof *grown);
	grown[count] = fact;
	return grown;
}

void xc_verdict_evidence(struct xc_report *report, const char *format, ...)
{
	struct xc_verdict *verdict = xc_report_verdict(report);
	xc_auto(xc_freep) char *text = NULL;
	va_list args;
	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	const char *fact = xc_arena_strdup(&report->arena, len < 0 ? format : text);
	verdict->evidence = with_another(report, verdict->evidence, verdict->evidence_count, fact);
	verdict->redacted = with_another(report, verdict->redacted, verdict->evidence_count, fact);
	verdict->evidence_count++;
}

void xc_verdict_redact(struct xc_report *report, const char *text)
{
	struct xc_verdict *verdict = xc_report_verdict(report);
	if (verdict->evidence_count)
		verdict->redacted[verdict->evidence_count - 1] = xc_arena_strdup(&report->arena, text);
}

void xc_verdict_involve(struct xc_report *report, int tid)
{
	struct xc_verdict *verdict = xc_report_verdict(report);
	int *grown = xc_arena_alloc(&report->arena, (verdict->involved_count + 1) * sizeof *grown);
	if (verdict->involved_count)
		memcpy(grown, verdict->involved, verdict->involved_count * sizeof *grown);
	grown[verdict->involved_count++] = tid;
	verdict->involved = grown;
}

/* Items */

static const char *item_key(const struct xc_item *item)
{
	return item->kind == XC_ITEM_FIELD ? item->field.key : item->key;
}

static bool key_taken(const struct xc_section *s, enum xc_item_kind kind, const char *key)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == kind && !strcmp(item_key(item), key))
			return true;
	return false;
}

static const char *unique_key(struct xc_section *s, enum xc_item_kind kind, const char *key)
{
	const char *candidate = xc_arena_strdup(&s->report->arena, key);
	for (unsigned n = 2; key_taken(s, kind, candidate); n++)
		candidate = xc_arena_printf(&s->report->arena, "%s_%u", key, n);
	return candidate;
}

static struct xc_item *add_item(struct xc_section *s, enum xc_item_kind kind, const char *key)
{
	struct xc_item *item = xc_arena_alloc(&s->report->arena, sizeof *item);
	item->kind = kind;
	item->key = key ? unique_key(s, kind, key) : NULL;
	*s->items_end = item;
	s->items_end = &item->next;
	return item;
}

static struct xc_cell copy_cell(struct xc_section *s, struct xc_cell cell)
{
	cell.text = xc_arena_strdup(&s->report->arena, cell.text);
	cell.redacted = xc_arena_strdup(&s->report->arena, cell.redacted);
	return cell;
}

struct xc_field *xc_section_cell(struct xc_section *s, const char *key, const char *label, struct xc_cell cell)
{
	const char *unique = unique_key(s, XC_ITEM_FIELD, key);
	struct xc_item *item = add_item(s, XC_ITEM_FIELD, NULL);
	item->field.key = unique;
	item->field.label = xc_arena_strdup(&s->report->arena, label);
	item->field.cell = copy_cell(s, cell);
	return &item->field;
}

struct xc_field *xc_section_text(struct xc_section *s, const char *key, const char *label, const char *text)
{
	return xc_section_cell(s, key, label, xc_cell_text(text));
}

struct xc_field *xc_section_count(struct xc_section *s, const char *key, const char *label, uint64_t count)
{
	return xc_section_cell(s, key, label, xc_cell_count(count));
}

struct xc_field *xc_section_integer(struct xc_section *s, const char *key, const char *label, int64_t value)
{
	return xc_section_cell(s, key, label, xc_cell_integer(value));
}

struct xc_field *xc_section_bytes(struct xc_section *s, const char *key, const char *label, uint64_t bytes)
{
	return xc_section_cell(s, key, label, xc_cell_bytes(bytes));
}

struct xc_field *xc_section_address(struct xc_section *s, const char *key, const char *label, xc_addr addr)
{
	return xc_section_cell(s, key, label, xc_cell_address(addr));
}

struct xc_field *xc_section_bool(struct xc_section *s, const char *key, const char *label, bool value)
{
	return xc_section_cell(s, key, label, xc_cell_bool(value));
}

struct xc_field *xc_section_seconds(struct xc_section *s, const char *key, const char *label, double seconds)
{
	return xc_section_cell(s, key, label, xc_cell_seconds(seconds));
}

struct xc_field *xc_section_unknown(struct xc_section *s, const char *key, const char *label, const char *why)
{
	return xc_section_cell(s, key, label, xc_cell_null(why));
}

struct xc_field *xc_section_value(struct xc_section *s, const char *key, const char *label, const char *text,
				  struct json_t *json)
{
	struct xc_cell cell = {.kind = XC_FIELD_VALUE, .text = text ? text : "", .secret = true};
	struct xc_field *field = xc_section_cell(s, key, label, cell);
	field->json = json;
	return field;
}

struct xc_item *xc_section_lines(struct xc_section *s, const char *key, const char *text)
{
	struct xc_item *item = add_item(s, XC_ITEM_TEXT, key);
	item->text = xc_arena_strdup(&s->report->arena, text ? text : "");
	return item;
}

struct xc_item *xc_section_tree(struct xc_section *s, const char *key, const struct xc_stacktree *tree)
{
	struct xc_item *item = add_item(s, XC_ITEM_TREE, key);
	item->tree = tree;
	return item;
}

struct xc_stacktree *xc_report_new_tree(struct xc_report *report, const char *title, const char *unit)
{
	struct xc_tree_owner *owner = xc_arena_alloc(&report->arena, sizeof *owner);
	xc_stacktree_init(&owner->tree, title, unit);
	owner->next = report->trees;
	report->trees = owner;
	return &owner->tree;
}

void xc_report_finish_trees(struct xc_report *report)
{
	for (struct xc_tree_owner *owner = report->trees; owner; owner = owner->next)
		if (owner->tree.building)
			xc_stacktree_finish(&owner->tree);
}

void xc_section_histogram(struct xc_section *s, const char *key, const struct xc_histogram *histogram)
{
	struct xc_arena *arena = &s->report->arena;
	struct xc_histogram *copy = xc_arena_alloc(arena, sizeof *copy);
	*copy = *histogram;
	copy->label = xc_arena_strdup(arena, histogram->label);
	copy->buckets = xc_arena_alloc(arena, histogram->bucket_count * sizeof *copy->buckets);
	if (histogram->bucket_count)
		memcpy(copy->buckets, histogram->buckets, histogram->bucket_count * sizeof *copy->buckets);
	add_item(s, XC_ITEM_HISTOGRAM, key)->histogram = copy;
}

void xc_section_document(struct xc_section *s, const char *key, const char *text, struct json_t *json)
{
	struct xc_item *item = add_item(s, XC_ITEM_DOCUMENT, key);
	item->document.text = xc_arena_strdup(&s->report->arena, text ? text : "");
	item->document.json = json;
}

void xc_section_note(struct xc_section *s, struct xc_error *err)
{
	s->report->incomplete = true;
	xc_section_message(s, XC_WARNING, err->hint, "%s", err->message);
	xc_error_free(err);
}

void xc_section_message(struct xc_section *s, enum xc_severity severity, const char *hint, const char *format, ...)
{
	xc_auto(xc_freep) char *text = NULL;
	va_list args;
	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	struct xc_item *item = add_item(s, XC_ITEM_MESSAGE, NULL);
	item->message.severity = severity;
	item->message.text = xc_arena_strdup(&s->report->arena, len < 0 ? format : text);
	item->message.hint = xc_arena_strdup(&s->report->arena, hint);
}

struct xc_table *xc_section_table(struct xc_section *s, const char *key, const struct xc_column *columns, size_t count)
{
	struct xc_arena *arena = &s->report->arena;
	struct xc_table *table = xc_arena_alloc(arena, sizeof *table);
	table->columns = xc_arena_alloc(arena, count * sizeof *columns);
	table->column_count = count;
	for (size_t i = 0; i < count; i++) {
		table->columns[i] = columns[i];
		table->columns[i].key = xc_arena_strdup(arena, columns[i].key);
		table->columns[i].label = xc_arena_strdup(arena, columns[i].label);
	}
	add_item(s, XC_ITEM_TABLE, key)->table = table;
	return table;
}

static void grow_table(struct xc_section *s, struct xc_table *table, size_t capacity)
{
	size_t used = table->row_count * table->column_count;
	struct xc_cell *grown = xc_arena_alloc(&s->report->arena, capacity * sizeof *grown);
	if (used)
		memcpy(grown, table->cells, used * sizeof *grown);
	table->cells = grown;
	table->cell_capacity = capacity;
}

void xc_table_reserve(struct xc_section *s, struct xc_table *table, size_t rows)
{
	if (rows * table->column_count > table->cell_capacity)
		grow_table(s, table, rows * table->column_count);
}

void xc_table_row(struct xc_section *s, struct xc_table *table, const struct xc_cell *cells)
{
	size_t used = table->row_count * table->column_count, wanted = used + table->column_count;
	if (wanted > table->cell_capacity)
		grow_table(s, table, wanted * 2);
	for (size_t i = 0; i < table->column_count; i++)
		table->cells[used + i] = copy_cell(s, cells[i]);
	table->row_count++;
}

struct xc_stacks *xc_section_stacks(struct xc_section *s, const char *key)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		assert(item->kind != XC_ITEM_STACKS);
	struct xc_stacks *stacks = xc_arena_alloc(&s->report->arena, sizeof *stacks);
	add_item(s, XC_ITEM_STACKS, key)->stacks = stacks;
	return stacks;
}

/* Cells */

struct xc_cell xc_cell_text(const char *text)
{
	return text ? (struct xc_cell){.kind = XC_FIELD_TEXT, .text = text} : xc_cell_null(NULL);
}

struct xc_cell xc_cell_count(uint64_t count)
{
	return (struct xc_cell){.kind = XC_FIELD_COUNT, .number = count};
}

struct xc_cell xc_cell_integer(int64_t value)
{
	return (struct xc_cell){.kind = XC_FIELD_INTEGER, .number = (uint64_t)value};
}

struct xc_cell xc_cell_bytes(uint64_t bytes)
{
	return (struct xc_cell){.kind = XC_FIELD_BYTES, .number = bytes};
}

struct xc_cell xc_cell_address(xc_addr addr)
{
	return (struct xc_cell){.kind = XC_FIELD_ADDRESS, .number = addr};
}

struct xc_cell xc_cell_bool(bool value)
{
	return (struct xc_cell){.kind = XC_FIELD_BOOL, .number = value};
}

/* JSON has no infinities and NaNs, and people have no use for them. */
static struct xc_cell real_cell(enum xc_field_kind kind, double real)
{
	return isfinite(real) ? (struct xc_cell){.kind = kind, .real = real}
			      : xc_cell_null(isnan(real) ? "not a number" : "infinite");
}

struct xc_cell xc_cell_seconds(double seconds)
{
	return real_cell(XC_FIELD_SECONDS, seconds);
}

struct xc_cell xc_cell_number(double number)
{
	return real_cell(XC_FIELD_NUMBER, number);
}

struct xc_cell xc_cell_ratio(double fraction)
{
	return real_cell(XC_FIELD_RATIO, fraction);
}

struct xc_cell xc_cell_null(const char *why)
{
	return (struct xc_cell){.kind = XC_FIELD_NULL, .text = why};
}
