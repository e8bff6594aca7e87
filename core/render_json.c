/* render_json: the complete, versioned form of a report (core/report.schema.json), written as a stream.
 *
 * Deterministic: order is the report's order, nothing of our own run is in it but the `run` object under --stats, and
 * headlines (which may hold a file's name or time) are left out. Arrays that grow with the target have a line per
 * element, so that two reports can be compared with diff. */
#include "render.h"

#include "json.h"
#include "stacktree.h"

struct view { /* what every writer below needs */
	struct xc_json *json;
	const struct xc_render_options *options;
};

static void write_cell(const struct view *v, const struct xc_cell *cell)
{
	if (v->options->redact && cell->secret && cell->kind != XC_FIELD_NULL) {
		xc_json_string(v->json, XC_REDACTED);
		return;
	}
	switch (cell->kind) {
	case XC_FIELD_TEXT:
		xc_json_string(v->json, cell->text);
		break;
	case XC_FIELD_COUNT:
	case XC_FIELD_BYTES:
		xc_json_count(v->json, cell->number);
		break;
	case XC_FIELD_INTEGER:
		xc_json_integer(v->json, (int64_t)cell->number);
		break;
	case XC_FIELD_ADDRESS:
		xc_json_address(v->json, cell->number);
		break;
	case XC_FIELD_BOOL:
		xc_json_bool(v->json, cell->number != 0);
		break;
	case XC_FIELD_SECONDS:
		xc_json_double(v->json, cell->seconds);
		break;
	case XC_FIELD_NULL:
		xc_json_null(v->json);
		break;
	}
}

/* Stacks */

static void write_variables(const struct view *v, const char *key, const struct xc_stack_row *row,
			    const struct xc_variable_text *variables, size_t count)
{
	struct xc_json *json = v->json;
	xc_json_key(json, key);
	if (!row->has_variables) {
		xc_json_null(json);
		return;
	}
	xc_json_open(json, '[');
	for (size_t i = 0; i < count; i++) {
		const struct xc_variable_text *variable = &variables[i];
		xc_json_open(json, '{');
		xc_json_put_string(json, "name", variable->name);
		xc_json_put_string(json, "type", variable->type);
		xc_json_put_string(json, "value",
				   variable->value && v->options->redact ? XC_REDACTED : variable->value);
		xc_json_put_string(json, "why", variable->value ? NULL : variable->why);
		if (variable->guessed)
			xc_json_put_bool(json, "guessed", true);
		xc_json_close(json, '}');
	}
	xc_json_close(json, ']');
}

static void write_number_or_null(struct xc_json *json, const char *key, bool known, uint64_t number)
{
	xc_json_key(json, key);
	if (known)
		xc_json_count(json, number);
	else
		xc_json_null(json);
}

static void write_row(const struct view *v, const struct xc_stack_row *row)
{
	struct xc_json *json = v->json;
	xc_json_open(json, '{');
	xc_json_put_count(json, "index", row->index);
	xc_json_put_address(json, "pc", row->pc);
	xc_json_put_string(json, "function", row->function);
	xc_json_put_bool(json, "inline", row->inlined);
	xc_json_put_bool(json, "tail_call", row->tail_call);
	xc_json_put_bool(json, "signal", row->signal);
	xc_json_put_string(json, "trust", row->trust);
	xc_json_put_string(json, "module", row->module);
	xc_json_put_string(json, "build_id", row->build_id);
	if (row->unverified)
		xc_json_put_bool(json, "unverified", true);
	xc_json_key(json, "offset");
	if (row->has_offset)
		xc_json_address(json, row->offset);
	else
		xc_json_null(json);
	xc_json_put_string(json, "file", row->file);
	write_number_or_null(json, "line", row->line != 0, row->line);
	if (row->column)
		xc_json_put_count(json, "column", row->column);
	write_variables(v, "args", row, row->args, row->arg_count);
	write_variables(v, "locals", row, row->locals, row->local_count);
	xc_json_close(json, '}');
}

static void write_stack(const struct view *v, const struct xc_stack *stack)
{
	struct xc_json *json = v->json;
	xc_json_open(json, '{');
	xc_json_put_integer(json, "tid", stack->tid);
	xc_json_put_string(json, "name", stack->name);
	xc_json_put_bool(json, "crashed", stack->crashed);
	xc_json_put_string(json, "state", stack->state);
	if (stack->how)
		xc_json_put_string(json, "how", stack->how);
	xc_json_key(json, "frames");
	xc_json_open(json, '[');
	for (size_t i = 0; i < stack->row_count; i++) {
		xc_json_newline(json);
		write_row(v, &stack->rows[i]);
	}
	xc_json_close(json, ']');
	if (stack->elided) {
		xc_json_put_count(json, "elided", stack->elided);
		xc_json_put_count(json, "elided_at", stack->elided_at);
	}
	if (stack->cycle)
		xc_json_put_string(json, "cycle", stack->cycle);
	xc_json_put_string(json, "stop", stack->stop);
	xc_json_close(json, '}');
}

static void write_groups(struct xc_json *json, const struct xc_stacks *stacks)
{
	xc_json_key(json, "groups");
	xc_json_open(json, '[');
	for (size_t i = 0; i < stacks->group_count; i++) {
		const struct xc_stack_group *group = &stacks->groups[i];
		xc_json_newline(json);
		xc_json_open(json, '[');
		for (size_t m = 0; m < group->member_count; m++)
			xc_json_integer(json, stacks->stacks[group->members[m]].tid);
		xc_json_close(json, ']');
	}
	xc_json_close(json, ']');
}

/* The members of a stacks object, into the open object. */
static void write_stacks(const struct view *v, const struct xc_stacks *stacks)
{
	xc_json_key(v->json, "threads");
	xc_json_open(v->json, '[');
	for (size_t i = 0; i < stacks->stack_count; i++) {
		xc_json_newline(v->json);
		write_stack(v, &stacks->stacks[i]);
	}
	xc_json_close(v->json, ']');
	if (stacks->group_count)
		write_groups(v->json, stacks);
}

/* Sections */

static void write_fields(const struct view *v, const struct xc_section *s)
{
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != XC_ITEM_FIELD)
			continue;
		xc_json_any_key(v->json, item->field.key);
		write_cell(v, &item->field.cell);
	}
}

static bool has_reason(const struct xc_cell *cell)
{
	return cell->kind == XC_FIELD_NULL && cell->text;
}

/* Why fields are null: {"unknown": {key: reason}}, only when there is such a field. */
static void write_unknown(const struct view *v, const struct xc_section *s)
{
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != XC_ITEM_FIELD || !has_reason(&item->field.cell))
			continue;
		if (!open) {
			xc_json_key(v->json, "unknown");
			xc_json_open(v->json, '{');
		}
		open = true;
		xc_json_any_key(v->json, item->field.key);
		xc_json_string(v->json, item->field.cell.text);
	}
	if (open)
		xc_json_close(v->json, '}');
}

static void write_table(const struct view *v, const struct xc_table *table)
{
	xc_json_open(v->json, '[');
	for (size_t row = 0; row < table->row_count; row++) {
		const struct xc_cell *cells = table->cells + row * table->column_count;
		bool reasons = false;
		xc_json_newline(v->json);
		xc_json_open(v->json, '{');
		for (size_t i = 0; i < table->column_count; i++) {
			xc_json_any_key(v->json, table->columns[i].key);
			write_cell(v, &cells[i]);
			reasons |= has_reason(&cells[i]);
		}
		if (reasons) {
			xc_json_key(v->json, "unknown");
			xc_json_open(v->json, '{');
			for (size_t i = 0; i < table->column_count; i++) {
				if (!has_reason(&cells[i]))
					continue;
				xc_json_any_key(v->json, table->columns[i].key);
				xc_json_string(v->json, cells[i].text);
			}
			xc_json_close(v->json, '}');
		}
		xc_json_close(v->json, '}');
	}
	xc_json_close(v->json, ']');
}

/* Depth-first with depths, not nested: readers limit nesting, and stacks can be deeper than any such limit. */
static void write_tree(const struct view *v, const struct xc_stacktree *tree)
{
	struct xc_json *json = v->json;
	size_t depth = 0;
	xc_json_open(json, '{');
	xc_json_put_string(json, "unit", tree->unit);
	xc_json_put_count(json, "total", tree->root.total);
	xc_json_key(json, "nodes");
	xc_json_open(json, '[');
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		xc_json_newline(json);
		xc_json_open(json, '{');
		xc_json_put_count(json, "depth", depth);
		xc_json_put_string(json, "name", node->name);
		xc_json_put_count(json, "self", node->self);
		xc_json_put_count(json, "total", node->total);
		xc_json_close(json, '}');
	}
	xc_json_close(json, ']');
	xc_json_close(json, '}');
}

static void write_item(const struct view *v, const struct xc_item *item)
{
	xc_json_any_key(v->json, item->key);
	if (item->kind == XC_ITEM_TABLE)
		write_table(v, item->table);
	else if (item->kind == XC_ITEM_TREE)
		write_tree(v, item->tree);
	else
		xc_json_string(v->json, v->options->redact && item->secret ? XC_REDACTED : item->text);
}

/* {group: {key: item}} over the items of one kind, only when there are any. */
static void write_items(const struct view *v, const struct xc_section *s, enum xc_item_kind kind, const char *group)
{
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != kind)
			continue;
		if (!open) {
			xc_json_key(v->json, group);
			xc_json_open(v->json, '{');
		}
		open = true;
		write_item(v, item);
	}
	if (open)
		xc_json_close(v->json, '}');
}

static void write_messages(const struct view *v, const struct xc_section *s)
{
	static const char *const severities[] = {"info", "warning", "problem"};
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != XC_ITEM_MESSAGE)
			continue;
		if (!open) {
			xc_json_key(v->json, "messages");
			xc_json_open(v->json, '[');
		}
		open = true;
		xc_json_open(v->json, '{');
		xc_json_put_string(v->json, "severity", severities[item->message.severity]);
		xc_json_put_string(v->json, "text", item->message.text);
		xc_json_put_string(v->json, "hint", item->message.hint);
		xc_json_close(v->json, '}');
	}
	if (open)
		xc_json_close(v->json, ']');
}

static const struct xc_stacks *stacks_of(const struct xc_section *s)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_STACKS)
			return item->stacks;
	return NULL;
}

/* What stands beside the fields in an open object: of a section, of the target, of a section alone. */
static void write_rest(const struct view *v, const struct xc_section *s)
{
	write_unknown(v, s);
	write_items(v, s, XC_ITEM_TABLE, "tables");
	write_items(v, s, XC_ITEM_TEXT, "texts");
	write_items(v, s, XC_ITEM_TREE, "trees");
	write_messages(v, s);
}

static void write_section(const struct view *v, const struct xc_section *s)
{
	const struct xc_stacks *stacks = stacks_of(s);
	xc_json_open(v->json, '{');
	xc_json_put_string(v->json, "key", s->key);
	xc_json_put_string(v->json, "title", s->title);
	xc_json_key(v->json, "fields");
	xc_json_open(v->json, '{');
	write_fields(v, s);
	xc_json_close(v->json, '}');
	if (stacks) {
		xc_json_key(v->json, "stacks");
		xc_json_open(v->json, '{');
		write_stacks(v, stacks);
		xc_json_close(v->json, '}');
	}
	write_rest(v, s);
	xc_json_close(v->json, '}');
}

/* A section whose fields are members of the object itself: the target, the run. */
static void write_flat(const struct view *v, const char *key, const struct xc_section *s)
{
	xc_json_newline(v->json);
	xc_json_key(v->json, key);
	if (!s) {
		xc_json_null(v->json);
		return;
	}
	xc_json_open(v->json, '{');
	write_fields(v, s);
	write_rest(v, s);
	xc_json_close(v->json, '}');
}

static void write_verdict(const struct view *v, const struct xc_verdict *verdict)
{
	struct xc_json *json = v->json;
	xc_json_newline(json);
	xc_json_key(json, "verdict");
	if (!verdict) {
		xc_json_null(json);
		return;
	}
	xc_json_open(json, '{');
	xc_json_put_string(json, "class", verdict->class_name);
	xc_json_put_string(json, "headline", verdict->headline);
	xc_json_put_string(json, "severity", verdict->severity);
	xc_json_put_string(json, "confidence", verdict->confidence);
	write_number_or_null(json, "tid", verdict->tid > 0, (uint64_t)verdict->tid);
	xc_json_put_string(json, "thread", verdict->thread_name);
	xc_json_put_string(json, "function", verdict->function);
	xc_json_put_string(json, "file", verdict->file);
	write_number_or_null(json, "line", verdict->line != 0, verdict->line);
	xc_json_put_string(json, "module", verdict->module);
	xc_json_put_string(json, "message", verdict->message && v->options->redact ? XC_REDACTED : verdict->message);
	xc_json_put_string(json, "cause", verdict->cause);
	xc_json_key(json, "evidence");
	xc_json_open(json, '[');
	for (size_t i = 0; i < verdict->evidence_count; i++)
		xc_json_string(json, verdict->evidence[i]);
	xc_json_close(json, ']');
	xc_json_close(json, '}');
}

static void write_report(const struct view *v, const struct xc_report *report)
{
	xc_json_open(v->json, '{');
	xc_json_put_string(v->json, "schema", report->schema);
	xc_json_put_string(v->json, "command", report->command);
	xc_json_put_bool(v->json, "incomplete", report->incomplete);
	write_flat(v, "target", report->target);
	write_verdict(v, report->verdict);
	xc_json_newline(v->json);
	xc_json_key(v->json, "sections");
	xc_json_open(v->json, '[');
	for (const struct xc_section *s = report->sections; s; s = s->next) {
		xc_json_newline(v->json);
		write_section(v, s);
	}
	xc_json_close(v->json, ']');
	if (v->options->stats && report->run)
		write_flat(v, "run", report->run);
	xc_json_close(v->json, '}');
}

static void write_single(const struct view *v, const struct xc_report *report, const struct xc_section *s)
{
	const struct xc_stacks *stacks = stacks_of(s);
	xc_json_open(v->json, '{');
	xc_json_put_string(v->json, "schema", s->schema);
	write_fields(v, s);
	if (stacks)
		write_stacks(v, stacks);
	write_rest(v, s);
	if (v->options->stats && report->run)
		write_flat(v, "run", report->run);
	xc_json_close(v->json, '}');
}

struct xc_error *xc_render_json(const struct xc_report *report, const struct xc_render_options *options, FILE *out)
{
	struct xc_json json = xc_json_start(out);
	const struct view v = {&json, options};
	const struct xc_section *single = options->single ? report->sections : NULL;
	while (single && !single->schema)
		single = single->next;
	if (single)
		write_single(&v, report, single);
	else
		write_report(&v, report);
	return xc_json_finish(&json);
}
