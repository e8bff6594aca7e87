/* report_wire_write: writes the sections of a report to a stream, item by item. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "core/report/report_wire.h"
#include "core/report/report_wire_layout.h"
#include "core/report/stacktree.h"

static void put_number(FILE *out, uint64_t number)
{
	do {
		uint8_t byte = number & 0x7f;
		number >>= 7;
		putc_unlocked(byte | (number ? 0x80 : 0), out);
	} while (number);
}

static void put_bytes(FILE *out, const char *bytes, size_t len)
{
	put_number(out, (uint64_t)len + 1);
	fwrite(bytes, 1, len, out);
}

static void put_text(FILE *out, const char *text)
{
	if (text)
		put_bytes(out, text, strlen(text));
	else
		put_number(out, 0);
}

static void put_real(FILE *out, double real)
{
	uint64_t bits;
	memcpy(&bits, &real, sizeof bits);
	for (size_t i = 0; i < sizeof bits; i++)
		putc_unlocked((int)(bits >> 8 * i & 0xff), out);
}

static void put_json(FILE *out, const json_t *json)
{
	xc_auto(xc_freep) char *text = json_dumps(json, JSON_COMPACT);
	put_text(out, text ? text : "{}");
}

static void put_cell(FILE *out, const struct xc_cell *cell)
{
	put_number(out, (uint64_t)cell->kind | (cell->secret ? XC_WIRE_CELL_SECRET : 0));
	switch (cell->kind) {
	case XC_FIELD_TEXT:
	case XC_FIELD_VALUE:
	case XC_FIELD_NULL:
		put_text(out, cell->text);
		break;
	case XC_FIELD_COUNT:
	case XC_FIELD_INTEGER:
	case XC_FIELD_BYTES:
	case XC_FIELD_ADDRESS:
	case XC_FIELD_BOOL:
		put_number(out, cell->number);
		break;
	case XC_FIELD_SECONDS:
	case XC_FIELD_NUMBER:
	case XC_FIELD_RATIO:
		put_real(out, cell->real);
		break;
	}
}

static void put_field(FILE *out, const struct xc_field *field)
{
	put_number(out, XC_WIRE_FIELD);
	put_text(out, field->key);
	put_text(out, field->label);
	put_number(out, field->quiet);
	put_cell(out, &field->cell);
	if (field->cell.kind == XC_FIELD_VALUE)
		put_json(out, field->json);
}

static void put_table(FILE *out, const char *key, const struct xc_table *table)
{
	put_number(out, XC_WIRE_TABLE);
	put_text(out, key);
	put_number(out, table->column_count);
	for (size_t i = 0; i < table->column_count; i++) {
		put_text(out, table->columns[i].key);
		put_text(out, table->columns[i].label);
		put_number(out, table->columns[i].kind);
		put_number(out, table->columns[i].verbose);
	}
	put_number(out, table->row_count);
	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		put_cell(out, &table->cells[i]);
}

static void put_tree(FILE *out, const struct xc_item *item)
{
	const struct xc_stacktree *tree = item->tree;
	size_t depth = 0;
	put_number(out, XC_WIRE_TREE);
	put_text(out, item->key);
	put_text(out, item->label);
	put_text(out, tree->title);
	put_text(out, tree->unit);
	put_number(out, tree->root.self);
	put_number(out, tree->node_count);
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		put_number(out, depth);
		put_text(out, node->name);
		put_number(out, node->self);
	}
}

static void put_histogram(FILE *out, const char *key, const struct xc_histogram *histogram)
{
	put_number(out, XC_WIRE_HISTOGRAM);
	put_text(out, key);
	put_text(out, histogram->label);
	put_number(out, histogram->kind);
	put_number(out, histogram->count);
	put_cell(out, &histogram->least);
	put_cell(out, &histogram->greatest);
	put_cell(out, &histogram->sum);
	put_cell(out, &histogram->mean);
	put_number(out, histogram->bucket_count);
	for (size_t i = 0; i < histogram->bucket_count; i++) {
		put_cell(out, &histogram->buckets[i].lo);
		put_cell(out, &histogram->buckets[i].hi);
		put_number(out, histogram->buckets[i].count);
	}
}

static void put_lines(FILE *out, const struct xc_item *item)
{
	put_number(out, XC_WIRE_TEXT);
	put_text(out, item->key);
	put_text(out, item->label);
	put_number(out, item->secret);
	put_number(out, item->quiet);
	put_text(out, item->text);
}

static void put_document(FILE *out, const struct xc_item *item)
{
	put_number(out, XC_WIRE_DOCUMENT);
	put_text(out, item->key);
	put_text(out, item->document.text);
	put_json(out, item->document.json);
}

static void put_message(FILE *out, const struct xc_message *message)
{
	put_number(out, XC_WIRE_MESSAGE);
	put_number(out, message->severity);
	put_text(out, message->text);
	put_text(out, message->hint);
}

static struct xc_error *put_item(FILE *out, const struct xc_item *item)
{
	switch (item->kind) {
	case XC_ITEM_FIELD:
		put_field(out, &item->field);
		break;
	case XC_ITEM_TABLE:
		put_table(out, item->key, item->table);
		break;
	case XC_ITEM_MESSAGE:
		put_message(out, &item->message);
		break;
	case XC_ITEM_TEXT:
		put_lines(out, item);
		break;
	case XC_ITEM_TREE:
		put_tree(out, item);
		break;
	case XC_ITEM_DOCUMENT:
		put_document(out, item);
		break;
	case XC_ITEM_HISTOGRAM:
		put_histogram(out, item->key, item->histogram);
		break;
	case XC_ITEM_STACKS:
		return xc_error_new(XC_ERR_UNSUPPORTED, "stacks are not sent");
	}
	return NULL;
}

static struct xc_error *put_section(FILE *out, const struct xc_section *s)
{
	struct xc_error *err = NULL;
	put_number(out, XC_WIRE_SECTION);
	put_text(out, s->key);
	put_text(out, s->title);
	put_text(out, s->schema);
	put_text(out, s->headline);
	put_number(out, s->brief);
	for (const struct xc_item *item = s->items; item && !err; item = item->next)
		err = put_item(out, item);
	return err;
}

struct xc_error *xc_report_write(const struct xc_report *report, FILE *out)
{
	struct xc_error *err;
	fputs(XC_WIRE_MAGIC, out);
	put_number(out, XC_WIRE_VERSION);
	if (report->incomplete)
		put_number(out, XC_WIRE_INCOMPLETE);
	for (const struct xc_output_line *line = report->output; line; line = line->next) {
		put_number(out, XC_WIRE_LINE);
		put_bytes(out, line->text, line->len);
	}
	for (const struct xc_section *s = report->sections; s; s = s->next)
		if ((err = put_section(out, s)))
			return err;
	put_number(out, XC_WIRE_END);
	if (fflush(out) || ferror(out))
		return xc_error_errno(errno ? errno : EIO, "sending a report");
	return NULL;
}
