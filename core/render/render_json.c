/* render_json: the complete, versioned form of a report (core/report/report.schema.json).
 *
 * Written in parts: a frame, a table row, a tree node, or the fields of a section are one jansson value each, which is
 * written and freed before the next one. Deterministic: the order is that of the report. Facts of this run appear only
 * in the `run` object under --stats, and headlines (which may contain the name or time of a file) are omitted. Arrays
 * that grow with the target have a line per element, so that diff can compare two reports. */
#include "core/render/render_json.h"

#include "core/report/scrub.h"
#include "core/report/stacktree.h"

void xc_json_set_text(json_t *object, const char *key, const char *text)
{
	xc_jsonvalue_set(object, key, xc_jsonvalue_text(text));
}

void xc_json_set_bool(json_t *object, const char *key, bool value)
{
	xc_jsonvalue_set(object, key, json_boolean(value));
}

void xc_json_set_count(json_t *object, const char *key, uint64_t count)
{
	xc_jsonvalue_set(object, key, xc_jsonvalue_count(count));
}

/* Source lines and columns count from 1; 0 is unknown. */
void xc_json_set_line(json_t *object, unsigned line)
{
	xc_jsonvalue_set(object, "line", line ? xc_jsonvalue_count(line) : json_null());
}

static json_t *cell_value(const struct xc_json *v, const struct xc_cell *cell)
{
	if (v->options->redact && cell->secret && cell->kind != XC_FIELD_NULL)
		return xc_jsonvalue_text(cell->redacted ? cell->redacted : XC_REDACTED);
	switch (cell->kind) {
	case XC_FIELD_TEXT:
		return xc_jsonvalue_text(cell->text);
	case XC_FIELD_COUNT:
	case XC_FIELD_BYTES:
		return xc_jsonvalue_count(cell->number);
	case XC_FIELD_INTEGER:
		return xc_jsonvalue_integer((int64_t)cell->number);
	case XC_FIELD_ADDRESS:
		return xc_jsonvalue_address(cell->number);
	case XC_FIELD_BOOL:
		return json_boolean(cell->number != 0);
	case XC_FIELD_SECONDS:
		return xc_jsonvalue_seconds(cell->real);
	case XC_FIELD_NUMBER:
	case XC_FIELD_RATIO:
		return xc_jsonvalue_double(cell->real);
	case XC_FIELD_VALUE: /* see write_values */
	case XC_FIELD_NULL:
		break;
	}
	return json_null();
}

/* Sections */

static json_t *fields_object(const struct xc_json *v, const struct xc_section *s)
{
	json_t *object = json_object();
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && item->field.cell.kind != XC_FIELD_VALUE)
			xc_jsonvalue_set(object, item->field.key, cell_value(v, &item->field.cell));
	return object;
}

static json_t *value_object(const struct xc_json *v, const struct xc_field *field)
{
	if (!v->options->redact || !field->cell.secret)
		return json_incref(field->json);
	json_t *object = json_copy(field->json);
	xc_jsonvalue_set(object, "value", xc_jsonvalue_text(XC_REDACTED));
	return object;
}

/* {"values": {key: value with its type}}, if any. */
static void write_values(const struct xc_json *v, const struct xc_section *s)
{
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != XC_ITEM_FIELD || item->field.cell.kind != XC_FIELD_VALUE)
			continue;
		if (!open)
			xc_jsonstream_open(v->stream, "values", '{');
		open = true;
		xc_jsonstream_member(v->stream, item->field.key, value_object(v, &item->field));
	}
	if (open)
		xc_jsonstream_close(v->stream, '}');
}

/* Set the reason why a cell is null in *reasons, which is created for the first one. */
static void add_reason(json_t **reasons, const char *key, const struct xc_cell *cell)
{
	if (cell->kind != XC_FIELD_NULL || !cell->text)
		return;
	if (!*reasons)
		*reasons = json_object();
	xc_json_set_text(*reasons, key, cell->text);
}

/* The reasons why fields are null: {"unknown": {key: reason}}, if any. */
static void write_unknown(const struct xc_json *v, const struct xc_section *s)
{
	json_t *reasons = NULL;
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD)
			add_reason(&reasons, item->field.key, &item->field.cell);
	if (reasons)
		xc_jsonstream_member(v->stream, "unknown", reasons);
}

static json_t *table_row(const struct xc_json *v, const struct xc_table *table, size_t row)
{
	const struct xc_cell *cells = table->cells + row * table->column_count;
	json_t *object = json_object(), *reasons = NULL;
	for (size_t i = 0; i < table->column_count; i++) {
		xc_jsonvalue_set(object, table->columns[i].key, cell_value(v, &cells[i]));
		add_reason(&reasons, table->columns[i].key, &cells[i]);
	}
	if (reasons)
		xc_jsonvalue_set(object, "unknown", reasons);
	return object;
}

static void write_table(const struct xc_json *v, const char *key, const struct xc_table *table)
{
	xc_jsonstream_open(v->stream, key, '[');
	for (size_t row = 0; row < table->row_count; row++) {
		xc_jsonstream_line(v->stream);
		xc_jsonstream_element(v->stream, table_row(v, table, row));
	}
	xc_jsonstream_close(v->stream, ']');
}

static json_t *node_object(const struct xc_stacktree_node *node, size_t depth, bool counts)
{
	json_t *object = json_object();
	xc_json_set_count(object, "depth", depth);
	xc_json_set_text(object, "name", node->name);
	xc_json_set_count(object, "self", node->self);
	xc_json_set_count(object, "total", node->total);
	if (counts)
		xc_json_set_count(object, "items", node->items);
	return object;
}

/* Depth-first with depths, not nested: readers limit nesting, and stacks can exceed any such limit. */
static void write_tree(const struct xc_json *v, const char *key, const struct xc_stacktree *tree)
{
	size_t depth = 0;
	xc_jsonstream_open(v->stream, key, '{');
	xc_jsonstream_member(v->stream, "unit", xc_jsonvalue_text(tree->unit));
	xc_jsonstream_member(v->stream, "total", xc_jsonvalue_count(tree->root.total));
	if (tree->things)
		xc_jsonstream_member(v->stream, "things", xc_jsonvalue_text(tree->things));
	xc_jsonstream_open(v->stream, "nodes", '[');
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		xc_jsonstream_line(v->stream);
		xc_jsonstream_element(v->stream, node_object(node, depth, tree->things != NULL));
	}
	xc_jsonstream_close(v->stream, ']');
	xc_jsonstream_close(v->stream, '}');
}

static json_t *bucket_object(const struct xc_json *v, const struct xc_bucket *bucket)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "lo", cell_value(v, &bucket->lo));
	xc_jsonvalue_set(object, "hi", cell_value(v, &bucket->hi));
	xc_json_set_count(object, "count", bucket->count);
	return object;
}

static const char *unit_of(enum xc_field_kind kind)
{
	return kind == XC_FIELD_BYTES ? "bytes" : kind == XC_FIELD_SECONDS ? "seconds" : "count";
}

static void write_histogram(const struct xc_json *v, const char *key, const struct xc_histogram *histogram)
{
	json_t *head = json_object();
	xc_json_set_text(head, "unit", unit_of(histogram->kind));
	xc_json_set_count(head, "count", histogram->count);
	xc_jsonvalue_set(head, "sum", cell_value(v, &histogram->sum));
	xc_jsonvalue_set(head, "min", cell_value(v, &histogram->least));
	xc_jsonvalue_set(head, "max", cell_value(v, &histogram->greatest));
	xc_jsonvalue_set(head, "mean", cell_value(v, &histogram->mean));
	xc_jsonstream_open(v->stream, key, '{');
	xc_jsonstream_members(v->stream, head);
	xc_jsonstream_open(v->stream, "buckets", '[');
	for (size_t i = 0; i < histogram->bucket_count; i++) {
		xc_jsonstream_line(v->stream);
		xc_jsonstream_element(v->stream, bucket_object(v, &histogram->buckets[i]));
	}
	xc_jsonstream_close(v->stream, ']');
	xc_jsonstream_close(v->stream, '}');
}

/* The members of a document, into the open object; arrays with a line per element. */
static void write_document(const struct xc_json *v, json_t *document)
{
	const char *key;
	json_t *value, *element;
	size_t i;
	json_object_foreach(document, key, value)
	{
		if (!json_is_array(value)) {
			xc_jsonstream_member(v->stream, key, json_incref(value));
			continue;
		}
		xc_jsonstream_open(v->stream, key, '[');
		json_array_foreach(value, i, element)
		{
			xc_jsonstream_line(v->stream);
			xc_jsonstream_element(v->stream, json_incref(element));
		}
		xc_jsonstream_close(v->stream, ']');
	}
}

/* All documents of a section that is itself a document. */
static void write_documents(const struct xc_json *v, const struct xc_section *s)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_DOCUMENT)
			write_document(v, item->document.json);
}

static void write_item(const struct xc_json *v, const struct xc_item *item)
{
	bool hidden = v->options->redact && item->secret;
	if (item->kind == XC_ITEM_DOCUMENT) {
		xc_jsonstream_open(v->stream, item->key, '{');
		write_document(v, item->document.json);
		xc_jsonstream_close(v->stream, '}');
	} else if (item->kind == XC_ITEM_TABLE)
		write_table(v, item->key, item->table);
	else if (item->kind == XC_ITEM_TREE)
		write_tree(v, item->key, item->tree);
	else if (item->kind == XC_ITEM_HISTOGRAM)
		write_histogram(v, item->key, item->histogram);
	else
		xc_jsonstream_member(v->stream, item->key, xc_jsonvalue_text(hidden ? XC_REDACTED : item->text));
}

/* {group: {key: item}} of the items of one kind, if any. */
static void write_items(const struct xc_json *v, const struct xc_section *s, enum xc_item_kind kind, const char *group)
{
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != kind)
			continue;
		if (!open)
			xc_jsonstream_open(v->stream, group, '{');
		open = true;
		write_item(v, item);
	}
	if (open)
		xc_jsonstream_close(v->stream, '}');
}

static json_t *message_object(const struct xc_message *message)
{
	static const char *const severities[] = {"info", "warning", "problem"};
	json_t *object = json_object();
	xc_json_set_text(object, "severity", severities[message->severity]);
	xc_json_set_text(object, "text", message->text);
	xc_json_set_text(object, "hint", message->hint);
	return object;
}

static void write_messages(const struct xc_json *v, const struct xc_section *s)
{
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != XC_ITEM_MESSAGE)
			continue;
		if (!open)
			xc_jsonstream_open(v->stream, "messages", '[');
		open = true;
		xc_jsonstream_element(v->stream, message_object(&item->message));
	}
	if (open)
		xc_jsonstream_close(v->stream, ']');
}

static const struct xc_stacks *stacks_of(const struct xc_section *s)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_STACKS)
			return item->stacks;
	return NULL;
}

/* The other members of an object with fields: a section, the target, or a section that is a document. */
static void write_rest(const struct xc_json *v, const struct xc_section *s)
{
	write_unknown(v, s);
	write_values(v, s);
	write_items(v, s, XC_ITEM_TABLE, "tables");
	write_items(v, s, XC_ITEM_TEXT, "texts");
	write_items(v, s, XC_ITEM_TREE, "trees");
	write_items(v, s, XC_ITEM_HISTOGRAM, "histograms");
	write_messages(v, s);
}

static void write_section(const struct xc_json *v, const struct xc_section *s)
{
	const struct xc_stacks *stacks = stacks_of(s);
	xc_jsonstream_open(v->stream, NULL, '{');
	xc_jsonstream_member(v->stream, "key", xc_jsonvalue_text(s->key));
	xc_jsonstream_member(v->stream, "title", xc_jsonvalue_text(s->title));
	xc_jsonstream_member(v->stream, "fields", fields_object(v, s));
	if (stacks) {
		xc_jsonstream_open(v->stream, "stacks", '{');
		xc_json_stacks(v, stacks);
		xc_jsonstream_close(v->stream, '}');
	}
	write_items(v, s, XC_ITEM_DOCUMENT, "documents");
	write_rest(v, s);
	xc_jsonstream_close(v->stream, '}');
}

/* A section whose fields are direct members of the object: the target, the run. */
static void write_flat(const struct xc_json *v, const char *key, const struct xc_section *s)
{
	xc_jsonstream_line(v->stream);
	if (!s) {
		xc_jsonstream_member(v->stream, key, json_null());
		return;
	}
	xc_jsonstream_open(v->stream, key, '{');
	xc_jsonstream_members(v->stream, fields_object(v, s));
	write_rest(v, s);
	xc_jsonstream_close(v->stream, '}');
}

static json_t *verdict_object(const struct xc_json *v, const struct xc_verdict *verdict)
{
	json_t *object = json_object(), *evidence = json_array();
	bool hidden = verdict->message && v->options->redact;
	const char *const *facts = v->options->redact ? verdict->redacted : verdict->evidence;
	xc_json_set_text(object, "class", verdict->class_name);
	xc_json_set_text(object, "kind", verdict->kind);
	xc_json_set_text(object, "headline", verdict->headline);
	xc_json_set_text(object, "severity", verdict->severity);
	xc_json_set_text(object, "confidence", verdict->confidence);
	xc_jsonvalue_set(object, "tid", verdict->tid > 0 ? xc_jsonvalue_integer(verdict->tid) : json_null());
	xc_json_set_text(object, "thread", verdict->thread_name);
	xc_json_set_text(object, "function", verdict->function);
	xc_json_set_text(object, "file", verdict->file);
	xc_json_set_line(object, verdict->line);
	xc_json_set_text(object, "module", verdict->module);
	xc_json_set_text(object, "message", hidden ? XC_REDACTED : verdict->message);
	xc_json_set_text(object, "cause", verdict->cause);
	xc_json_set_text(object, "expression", verdict->expression);
	xc_json_set_text(object, "origin", verdict->origin);
	for (size_t i = 0; i < verdict->evidence_count; i++)
		json_array_append_new(evidence, xc_jsonvalue_text(facts[i]));
	xc_jsonvalue_set(object, "evidence", evidence);
	return object;
}

static void write_sections(const struct xc_json *v, const struct xc_report *report)
{
	xc_jsonstream_line(v->stream);
	xc_jsonstream_open(v->stream, "sections", '[');
	for (const struct xc_section *s = report->sections; s; s = s->next) {
		xc_jsonstream_line(v->stream);
		write_section(v, s);
	}
	xc_jsonstream_close(v->stream, ']');
	if (v->options->stats && report->run)
		write_flat(v, "run", report->run);
}

static void write_output(const struct xc_json *v, const struct xc_report *report)
{
	xc_jsonstream_open(v->stream, "output", '[');
	for (const struct xc_output_line *line = report->output; line; line = line->next) {
		xc_jsonstream_line(v->stream);
		xc_jsonstream_element(v->stream, xc_jsonvalue_bytes(line->text, line->len));
	}
	xc_jsonstream_close(v->stream, ']');
}

static void write_answer(const struct xc_json *v, const struct xc_report *report)
{
	xc_jsonstream_open(v->stream, NULL, '{');
	xc_jsonstream_member(v->stream, "schema", xc_jsonvalue_text(report->schema));
	xc_jsonstream_member(v->stream, "plugin", xc_jsonvalue_text(report->plugin));
	xc_jsonstream_member(v->stream, "command", xc_jsonvalue_text(report->command));
	if (report->error)
		xc_jsonstream_member(v->stream, "error", xc_jsonvalue_text(report->error));
	if (report->output)
		write_output(v, report);
	write_sections(v, report);
	xc_jsonstream_close(v->stream, '}');
}

static void write_report(const struct xc_json *v, const struct xc_report *report)
{
	const struct xc_verdict *verdict = report->verdict;
	xc_jsonstream_open(v->stream, NULL, '{');
	xc_jsonstream_member(v->stream, "schema", xc_jsonvalue_text(report->schema));
	xc_jsonstream_member(v->stream, "command", xc_jsonvalue_text(report->command));
	xc_jsonstream_member(v->stream, "incomplete", json_boolean(report->incomplete));
	write_flat(v, "target", report->target);
	xc_jsonstream_line(v->stream);
	xc_jsonstream_member(v->stream, "verdict", verdict ? verdict_object(v, verdict) : json_null());
	write_sections(v, report);
	xc_jsonstream_close(v->stream, '}');
}

static void write_single(const struct xc_json *v, const struct xc_report *report, const struct xc_section *s)
{
	const struct xc_stacks *stacks = stacks_of(s);
	xc_jsonstream_open(v->stream, NULL, '{');
	xc_jsonstream_member(v->stream, "schema", xc_jsonvalue_text(s->schema));
	xc_jsonstream_members(v->stream, fields_object(v, s));
	if (stacks)
		xc_json_stacks(v, stacks);
	write_documents(v, s);
	write_rest(v, s);
	if (v->options->stats && report->run)
		write_flat(v, "run", report->run);
	xc_jsonstream_close(v->stream, '}');
}

struct xc_error *xc_render_json(const struct xc_report *report, const struct xc_render_options *options, FILE *out)
{
	struct xc_jsonstream stream = xc_jsonstream_start(out);
	const struct xc_json v = {&stream, options};
	const struct xc_section *single = options->single ? report->sections : NULL;
	while (single && !single->schema)
		single = single->next;
	if (single)
		write_single(&v, report, single);
	else if (report->is_answer)
		write_answer(&v, report);
	else
		write_report(&v, report);
	return xc_jsonstream_finish(&stream);
}
