/* render_json_stacks: threads and their frames, and groups of equal stacks. A frame is one value. */
#include "core/render/render_json.h"
#include "core/report/scrub.h"

static json_t *variable_object(const struct xc_json *v, const struct xc_variable_text *variable)
{
	json_t *object = json_object();
	xc_json_set_text(object, "name", variable->name);
	xc_json_set_text(object, "type", variable->type);
	xc_json_set_text(object, "value", variable->value && v->options->redact ? XC_REDACTED : variable->value);
	xc_json_set_text(object, "why", variable->value ? NULL : variable->why);
	if (variable->guessed)
		xc_json_set_bool(object, "guessed", true);
	return object;
}

static json_t *variables_array(const struct xc_json *v, const struct xc_variable_text *variables, size_t count)
{
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, variable_object(v, &variables[i]));
	return array;
}

static json_t *row_object(const struct xc_json *v, const struct xc_stack_row *row)
{
	json_t *object = json_object();
	bool known = row->has_variables;
	xc_jsonvalue_set(object, "index", row->guest ? json_null() : xc_jsonvalue_integer(row->index));
	bool hidden = (row->guest && !row->pc) || (v->options->redact && xc_scrub_is_letters(row->pc));
	xc_jsonvalue_set(object, "pc", hidden ? json_null() : xc_jsonvalue_address(row->pc));
	xc_json_set_text(object, "function", row->function);
	if (row->language)
		xc_json_set_text(object, "language", row->language);
	if (row->kind)
		xc_json_set_text(object, "kind", row->kind);
	if (row->left_out)
		xc_json_set_count(object, "left_out", row->left_out);
	xc_json_set_bool(object, "inline", row->inlined);
	xc_json_set_bool(object, "tail_call", row->tail_call);
	if (row->tail_partial)
		xc_json_set_bool(object, "tail_partial", true);
	xc_json_set_bool(object, "signal", row->signal);
	xc_json_set_text(object, "trust", row->trust);
	if (row->opinion)
		xc_json_set_text(object, "second_opinion", row->opinion);
	xc_json_set_text(object, "module", row->module);
	xc_json_set_text(object, "build_id", row->build_id);
	if (row->unverified)
		xc_json_set_bool(object, "unverified", true);
	xc_jsonvalue_set(object, "offset", row->has_offset ? xc_jsonvalue_address(row->offset) : json_null());
	xc_json_set_text(object, "file", row->file);
	xc_json_set_line(object, row->line);
	if (row->column)
		xc_json_set_count(object, "column", row->column);
	xc_jsonvalue_set(object, "args", known ? variables_array(v, row->args, row->arg_count) : json_null());
	xc_jsonvalue_set(object, "locals", known ? variables_array(v, row->locals, row->local_count) : json_null());
	return object;
}

/* The members of a stack before its frames. */
static json_t *stack_head(const struct xc_json *v, const struct xc_stack *stack)
{
	const char *waits = v->options->redact ? stack->waits_redacted : stack->waits;
	json_t *object = json_object();
	if (!stack->detached)
		xc_jsonvalue_set(object, "tid", xc_jsonvalue_integer(stack->tid));
	xc_json_set_text(object, "name", stack->name);
	xc_json_set_bool(object, "crashed", stack->crashed);
	xc_json_set_text(object, "state", stack->state);
	if (stack->how)
		xc_json_set_text(object, "how", stack->how);
	if (stack->role)
		xc_json_set_text(object, "role", stack->role);
	if (waits)
		xc_json_set_text(object, "waits", waits);
	return object;
}

static json_t *stack_tail(const struct xc_stack *stack)
{
	json_t *object = json_object();
	if (stack->elided) {
		xc_json_set_count(object, "elided", stack->elided);
		xc_json_set_count(object, "elided_at", stack->elided_at);
	}
	if (stack->cycle)
		xc_json_set_text(object, "cycle", stack->cycle);
	xc_json_set_text(object, "stop", stack->stop);
	return object;
}

/* Written in parts, because an overflowed stack is very long. */
static void write_stack(const struct xc_json *v, const struct xc_stack *stack)
{
	xc_jsonstream_open(v->stream, NULL, '{');
	xc_jsonstream_members(v->stream, stack_head(v, stack));
	xc_jsonstream_open(v->stream, "frames", '[');
	for (size_t i = 0; i < stack->row_count; i++) {
		xc_jsonstream_line(v->stream);
		xc_jsonstream_element(v->stream, row_object(v, &stack->rows[i]));
	}
	xc_jsonstream_close(v->stream, ']');
	xc_jsonstream_members(v->stream, stack_tail(stack));
	xc_jsonstream_close(v->stream, '}');
}

static json_t *group_array(const struct xc_stacks *stacks, const struct xc_stack_group *group)
{
	json_t *array = json_array();
	for (size_t i = 0; i < group->member_count; i++)
		json_array_append_new(array, xc_jsonvalue_integer(stacks->stacks[group->members[i]].tid));
	return array;
}

static void write_stacks(const struct xc_json *v, const struct xc_stacks *stacks, const char *key, bool detached)
{
	xc_jsonstream_open(v->stream, key, '[');
	for (size_t i = 0; i < stacks->stack_count; i++) {
		if (stacks->stacks[i].detached != detached)
			continue;
		xc_jsonstream_line(v->stream);
		write_stack(v, &stacks->stacks[i]);
	}
	xc_jsonstream_close(v->stream, ']');
}

/* Threads by their ids. A stack on no thread has none. */
static void write_groups(const struct xc_json *v, const struct xc_stacks *stacks)
{
	xc_jsonstream_open(v->stream, "groups", '[');
	for (size_t i = 0; i < stacks->group_count; i++) {
		const struct xc_stack_group *group = &stacks->groups[i];
		if (group->member_count && stacks->stacks[group->members[0]].detached)
			continue;
		xc_jsonstream_line(v->stream);
		xc_jsonstream_element(v->stream, group_array(stacks, group));
	}
	xc_jsonstream_close(v->stream, ']');
}

void xc_json_stacks(const struct xc_json *v, const struct xc_stacks *stacks)
{
	bool detached = false;
	for (size_t i = 0; i < stacks->stack_count; i++)
		detached |= stacks->stacks[i].detached;
	write_stacks(v, stacks, "threads", false);
	if (detached)
		write_stacks(v, stacks, "coroutines", true);
	if (stacks->group_count)
		write_groups(v, stacks);
}
