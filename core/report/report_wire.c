/* report_wire: the reader. It keeps the first error. After that every read returns zero or NULL, and loops end. */
#include "core/report/report_wire.h"

#include <jansson.h>
#include <string.h>

#include "core/base/cursor.h"
#include "core/report/report_wire_layout.h"
#include "core/report/stacktree.h"

struct reader {
	struct xc_cursor bytes;
	struct xc_report *report;
	struct xc_section *section; /* the last one; NULL before it */
	struct xc_error *err;
	size_t sections, items, section_items, cells, small;
};

/* ---- primitives ---- */

/* Keeps the first error. */
static bool ok(struct reader *r, struct xc_error *err)
{
	if (err && r->err)
		xc_error_free(err);
	else if (err)
		r->err = err;
	return !r->err;
}

static void damaged(struct reader *r, const char *what)
{
	ok(r, xc_error_new(XC_ERR_FORMAT, "the received report is damaged: %s", what));
}

static uint64_t take_number(struct reader *r)
{
	uint64_t number = 0;
	return !r->err && ok(r, xc_cursor_uleb(&r->bytes, &number)) ? number : 0;
}

/* Read a number of at most `most`. 0 and an error when it is larger. */
static uint64_t take_upto(struct reader *r, uint64_t most, const char *what)
{
	uint64_t number = take_number(r);
	if (number <= most)
		return number;
	damaged(r, what);
	return 0;
}

/* Count items that take few bytes in the input and many in memory. False: too many. */
static bool count_small(struct reader *r, uint64_t count)
{
	if (count > XC_WIRE_SMALL - r->small)
		return ok(r, xc_error_new(XC_ERR_LIMIT,
					  "the received report has more than %d lines, nodes of trees and buckets",
					  XC_WIRE_SMALL));
	r->small += count;
	return !r->err;
}

static bool take_flag(struct reader *r)
{
	return take_upto(r, 1, "a flag") != 0;
}

/* Borrowed from the input; NULL for none, and after an error. */
static const char *take_bytes(struct reader *r, size_t *len_out)
{
	const void *bytes = NULL;
	uint64_t len = take_number(r);
	*len_out = 0;
	if (r->err || len == 0)
		return NULL;
	if (len - 1 > xc_cursor_left(&r->bytes)) {
		damaged(r, "a text is cut short");
		return NULL;
	}
	ok(r, xc_cursor_take(&r->bytes, (size_t)len - 1, &bytes));
	*len_out = (size_t)len - 1;
	return bytes;
}

/* In the report's arena. */
static const char *take_text(struct reader *r)
{
	size_t len;
	const char *bytes = take_bytes(r, &len);
	return bytes ? xc_arena_strndup(&r->report->arena, bytes, len) : NULL;
}

/* A required text: never NULL. */
static const char *take_name(struct reader *r)
{
	const char *text = take_text(r);
	if (!text)
		damaged(r, "a name is missing");
	return text ? text : "";
}

static double take_real(struct reader *r)
{
	uint64_t bits = 0;
	double real;
	if (!r->err)
		ok(r, xc_cursor_uint(&r->bytes, sizeof bits, &bits));
	memcpy(&real, &bits, sizeof real);
	return real;
}

/* An object, which the caller owns; NULL after an error. */
static json_t *take_json(struct reader *r)
{
	size_t len;
	const char *bytes = take_bytes(r, &len);
	json_t *json = bytes ? json_loadb(bytes, len, JSON_ALLOW_NUL, NULL) : NULL;
	if (json_is_object(json))
		return json;
	json_decref(json);
	damaged(r, "JSON");
	return NULL;
}

static enum xc_field_kind take_kind(struct reader *r)
{
	return (enum xc_field_kind)take_upto(r, XC_FIELD_NULL, "a kind");
}

/* Its text is in the report's arena. */
static struct xc_cell take_cell(struct reader *r)
{
	uint64_t kind = take_upto(r, XC_FIELD_NULL | XC_WIRE_CELL_SECRET, "a cell");
	struct xc_cell cell = xc_cell_null(NULL);
	switch ((enum xc_field_kind)(kind & ~(uint64_t)XC_WIRE_CELL_SECRET)) {
	case XC_FIELD_TEXT:
		cell = xc_cell_text(take_text(r));
		break;
	case XC_FIELD_COUNT:
		cell = xc_cell_count(take_number(r));
		break;
	case XC_FIELD_INTEGER:
		cell = xc_cell_integer((int64_t)take_number(r));
		break;
	case XC_FIELD_BYTES:
		cell = xc_cell_bytes(take_number(r));
		break;
	case XC_FIELD_ADDRESS:
		cell = xc_cell_address(take_number(r));
		break;
	case XC_FIELD_BOOL:
		cell = xc_cell_bool(take_flag(r));
		break;
	case XC_FIELD_SECONDS:
		cell = xc_cell_seconds(take_real(r));
		break;
	case XC_FIELD_NUMBER:
		cell = xc_cell_number(take_real(r));
		break;
	case XC_FIELD_RATIO:
		cell = xc_cell_ratio(take_real(r));
		break;
	case XC_FIELD_VALUE:
		cell = (struct xc_cell){.kind = XC_FIELD_VALUE, .text = take_name(r)};
		break;
	case XC_FIELD_NULL:
		cell = xc_cell_null(take_text(r));
		break;
	default:
		damaged(r, "a cell");
	}
	cell.secret = kind & XC_WIRE_CELL_SECRET;
	return cell;
}

/* A cell of a table or histogram. A VALUE has JSON, so it is allowed only in fields. */
static struct xc_cell take_plain_cell(struct reader *r)
{
	struct xc_cell cell = take_cell(r);
	if (cell.kind != XC_FIELD_VALUE)
		return cell;
	damaged(r, "a value in a table");
	return xc_cell_null(NULL);
}

/* ---- items ---- */

static void take_field(struct reader *r)
{
	const char *key = take_name(r), *label = take_name(r);
	bool quiet = take_flag(r);
	struct xc_cell cell = take_cell(r);
	json_t *json = !r->err && cell.kind == XC_FIELD_VALUE ? take_json(r) : NULL;
	if (r->err)
		return;
	struct xc_field *field = xc_section_cell(r->section, key, label, cell);
	field->quiet = quiet;
	field->json = json;
}

static void take_rows(struct reader *r, struct xc_table *table)
{
	struct xc_cell cells[XC_WIRE_COLUMNS];
	uint64_t rows = take_number(r), left = xc_cursor_left(&r->bytes);
	if (rows && (!table->column_count || rows > left / table->column_count)) {
		damaged(r, "a table is cut short");
		return;
	}
	if (rows * table->column_count > XC_WIRE_CELLS - r->cells) {
		ok(r, xc_error_new(XC_ERR_LIMIT, "the received report has more than %d cells", XC_WIRE_CELLS));
		return;
	}
	r->cells += rows * table->column_count;
	xc_table_reserve(r->section, table, rows);
	for (uint64_t row = 0; row < rows && !r->err; row++) {
		for (size_t i = 0; i < table->column_count; i++)
			cells[i] = take_plain_cell(r);
		if (!r->err)
			xc_table_row(r->section, table, cells);
	}
}

static void take_table(struct reader *r)
{
	struct xc_column columns[XC_WIRE_COLUMNS];
	const char *key = take_name(r);
	size_t count = take_upto(r, XC_WIRE_COLUMNS, "columns");
	for (size_t i = 0; i < count && !r->err; i++) {
		columns[i] = (struct xc_column){.key = take_name(r)};
		columns[i].label = take_name(r);
		columns[i].kind = take_kind(r);
		columns[i].verbose = take_flag(r);
	}
	if (!r->err)
		take_rows(r, xc_section_table(r->section, key, columns, count));
}

static void take_message(struct reader *r)
{
	enum xc_severity severity = (enum xc_severity)take_upto(r, XC_PROBLEM, "a severity");
	const char *text = take_name(r), *hint = take_text(r);
	if (!r->err)
		xc_section_message(r->section, severity, hint, "%s", text);
}

static void take_lines(struct reader *r)
{
	const char *key = take_name(r), *label = take_text(r);
	bool secret = take_flag(r), quiet = take_flag(r);
	const char *text = take_name(r);
	if (r->err)
		return;
	struct xc_item *item = xc_section_lines(r->section, key, text);
	item->label = label;
	item->secret = secret;
	item->quiet = quiet;
}

static void take_document(struct reader *r)
{
	const char *key = take_name(r), *text = take_name(r);
	json_t *json = take_json(r);
	if (!r->err)
		xc_section_document(r->section, key, text, json);
}

/* Nodes are in depth-first order: the parent of each is the preceding node or one of its ancestors. */
static void take_nodes(struct reader *r, struct xc_stacktree *tree, uint64_t count)
{
	struct xc_stacktree_node *node = &tree->root;
	for (uint64_t at = 0, i = 0; i < count && !r->err; i++) {
		uint64_t depth = take_number(r);
		const char *name = take_name(r);
		uint64_t weight = take_number(r);
		if (depth == 0 || depth > at + 1)
			damaged(r, "a tree");
		if (r->err)
			return;
		for (; at >= depth; at--)
			node = node->parent;
		node = xc_stacktree_grow(tree, node, name, weight);
		at = depth;
	}
}

static void take_tree(struct reader *r)
{
	const char *key = take_name(r), *label = take_text(r), *title = take_text(r), *unit = take_text(r);
	uint64_t weight = take_number(r), count = take_upto(r, xc_cursor_left(&r->bytes) / 3, "a tree is cut short");
	if (r->err || !count_small(r, count))
		return;
	struct xc_stacktree *tree = xc_report_new_tree(r->report, title, unit);
	xc_section_tree(r->section, key, tree)->label = label;
	xc_stacktree_grow(tree, &tree->root, NULL, weight);
	take_nodes(r, tree, count);
	xc_stacktree_finish(tree);
}

static void take_buckets(struct reader *r, struct xc_histogram *histogram, uint64_t count)
{
	histogram->buckets = xc_arena_alloc(&r->report->arena, count * sizeof *histogram->buckets);
	for (uint64_t i = 0; i < count && !r->err; i++) {
		struct xc_bucket *bucket = &histogram->buckets[i];
		bucket->lo = take_plain_cell(r);
		bucket->hi = take_plain_cell(r);
		bucket->count = take_number(r);
	}
	histogram->bucket_count = count;
}

static void take_histogram(struct reader *r)
{
	const char *key = take_name(r);
	struct xc_histogram histogram = {.label = take_name(r)};
	histogram.kind = take_kind(r);
	histogram.count = take_number(r);
	histogram.least = take_plain_cell(r);
	histogram.greatest = take_plain_cell(r);
	histogram.sum = take_plain_cell(r);
	histogram.mean = take_plain_cell(r);
	uint64_t count = take_upto(r, xc_cursor_left(&r->bytes) / 5, "a histogram is cut short");
	if (r->err || !count_small(r, count))
		return;
	take_buckets(r, &histogram, count);
	if (!r->err)
		xc_section_histogram(r->section, key, &histogram);
}

/* ---- parts ---- */

static void take_section(struct reader *r)
{
	const char *key = take_name(r), *title = take_name(r), *schema = take_text(r), *headline = take_text(r);
	bool brief = take_flag(r);
	if (r->err)
		return;
	if (r->sections++ == XC_WIRE_SECTIONS) {
		ok(r, xc_error_new(XC_ERR_LIMIT, "the received report has more than %d sections", XC_WIRE_SECTIONS));
		return;
	}
	r->section = xc_report_section(r->report, key, title);
	r->section->schema = schema;
	r->section->headline = headline;
	r->section->brief = brief;
	r->section_items = 0;
}

static void take_line(struct reader *r)
{
	size_t len;
	const char *bytes = take_bytes(r, &len);
	if (bytes && count_small(r, 1))
		xc_report_print(r->report, bytes, len);
	else if (!bytes)
		damaged(r, "a line");
}

static bool count_item(struct reader *r)
{
	if (!r->section) {
		damaged(r, "an item without a section");
	} else if (r->items == XC_WIRE_ITEMS || r->section_items == XC_WIRE_SECTION_ITEMS) {
		ok(r, xc_error_new(XC_ERR_LIMIT, "the received report has too many items"));
	}
	r->items++;
	r->section_items++;
	return !r->err;
}

static void take_item(struct reader *r, uint64_t tag)
{
	static void (*const takers[])(struct reader *) = {
		[XC_WIRE_FIELD] = take_field,         [XC_WIRE_TABLE] = take_table, [XC_WIRE_MESSAGE] = take_message,
		[XC_WIRE_TEXT] = take_lines,          [XC_WIRE_TREE] = take_tree,   [XC_WIRE_DOCUMENT] = take_document,
		[XC_WIRE_HISTOGRAM] = take_histogram,
	};
	if (tag >= XC_COUNT(takers))
		damaged(r, "a part of an unknown kind");
	else if (count_item(r))
		takers[tag](r);
}

static void take_parts(struct reader *r)
{
	for (uint64_t tag; (tag = take_number(r)) != XC_WIRE_END && !r->err;) {
		if (tag == XC_WIRE_INCOMPLETE)
			r->report->incomplete = true;
		else if (tag == XC_WIRE_LINE)
			take_line(r);
		else if (tag == XC_WIRE_SECTION)
			take_section(r);
		else
			take_item(r, tag);
	}
	if (!r->err && xc_cursor_left(&r->bytes))
		damaged(r, "there is data after its end");
}

struct xc_error *xc_report_read(const void *bytes, size_t len, struct xc_report *into)
{
	struct reader r = {.bytes = xc_cursor(bytes, len, "the received report"), .report = into};
	const void *magic = NULL;
	if (ok(&r, xc_cursor_take(&r.bytes, strlen(XC_WIRE_MAGIC), &magic)) &&
	    memcmp(magic, XC_WIRE_MAGIC, strlen(XC_WIRE_MAGIC)) != 0)
		damaged(&r, "its header is missing");
	if (take_number(&r) != XC_WIRE_VERSION)
		damaged(&r, "it is of another version");
	if (!r.err)
		take_parts(&r);
	return r.err;
}
