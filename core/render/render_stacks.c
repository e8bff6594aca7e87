/* render_stacks: thread stacks for people.
 *
 *   #0  handle_request   server.c:42     req=0x55d0c1a2b3c0, n=3
 *           state  enum state   ST_OPEN
 *       handler          access.lua:12   [lua]
 *   #1  main             server.c:98     [inlined]
 *
 * The function and place columns of a stack are as wide as its rows need, up to a limit. Longer names push the rest of
 * their row to the right or onto the next line. */
#include "core/render/paint.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* The largest widths to align columns to, in percent of the page. */
	FUNCTION_CAP = 40,
	LONG_FUNCTION = 64, /* of functions: longer ones lose template arguments */
	PLACE_CAP = 32,
	NAME_CAP = 24,
	TYPE_CAP = 30, /* of variables */
	VARIABLE_INDENT = 8,
	VALUE_LINES = 4,     /* of one value; JSON has all */
	MAX_VARIABLES = 200, /* of one frame */
	MAX_TIDS = 12,       /* named in the head of a group */
	LEAST_RUN = 4,       /* the shortest run of equal frames that is folded */
	LEAST_ARGS = 24,     /* columns that arguments need on the line of the frame */
};

struct columns {
	size_t number, function, place; /* widths */
};

static const char *scratch(struct xc_paint *p)
{
	return xc_text_string(&p->scratch);
}

static struct xc_text *clean_scratch(struct xc_paint *p)
{
	p->scratch.len = 0;
	xc_text_addn(&p->scratch, "", 0);
	return &p->scratch;
}

static size_t scratch_columns(struct xc_paint *p)
{
	return xc_render_columns(p->scratch.bytes, p->scratch.len);
}

static size_t cap(const struct xc_paint *p, size_t percent)
{
	return p->width * percent / 100;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Columns of a string of the target once it is escaped. */
static size_t name_columns(struct xc_paint *p, const char *string)
{
	size_t len = string ? strlen(string) : 0;
	if (!len || xc_text_ascii_run(string, len) == len)
		return len;
	xc_text_name(clean_scratch(p), string);
	return scratch_columns(p);
}

static struct columns measure(struct xc_paint *p, const struct xc_stack *stack)
{
	struct columns c = {0};
	unsigned highest = 0;
	for (size_t i = 0; i < stack->row_count; i++) {
		const struct xc_stack_row *row = &stack->rows[i];
		xc_render_function(clean_scratch(p), row);
		c.function = larger(c.function, smaller(scratch_columns(p), cap(p, FUNCTION_CAP)));
		xc_render_place(clean_scratch(p), row);
		c.place = larger(c.place, smaller(scratch_columns(p), cap(p, PLACE_CAP)));
		highest = row->index > highest ? row->index : highest;
	}
	xc_text_printf(clean_scratch(p), "#%u  ", highest);
	c.number = scratch_columns(p);
	return c;
}

/* Variables */

/* Put `name=value` pairs, wrapped between them where possible. */
static void put_args(struct xc_paint *p, const struct xc_stack_row *row, size_t indent)
{
	for (size_t i = 0; i < row->arg_count && i < MAX_VARIABLES; i++) {
		const struct xc_variable_text *arg = &row->args[i];
		struct xc_text *text = clean_scratch(p);
		xc_text_name(text, arg->name ? arg->name : "?");
		xc_text_char(text, '=');
		size_t name_len = text->len;
		xc_render_variable(text, arg, p->options->redact);
		if (i + 1 < row->arg_count)
			xc_text_char(text, ',');
		size_t at = xc_paint_column(p), wide = scratch_columns(p);
		if (i && at > indent && at + 1 + wide > p->width) {
			xc_paint_line(p);
			xc_paint_pad(p, indent);
		} else if (i) {
			xc_paint_put(p, XC_PLAIN, " ");
		}
		xc_paint_putn(p, XC_DIM, text->bytes, name_len);
		xc_paint_wrapped(p, arg->value ? XC_PLAIN : XC_DIM, text->bytes + name_len, indent + 4, VALUE_LINES);
	}
}

static size_t args_width(struct xc_paint *p, const struct xc_stack_row *row)
{
	struct xc_text *text = clean_scratch(p);
	for (size_t i = 0; i < row->arg_count && text->len < 4 * p->width; i++) {
		xc_text_name(text, row->args[i].name ? row->args[i].name : "?");
		xc_text_add(text, "=, ");
		xc_render_variable(text, &row->args[i], p->options->redact);
	}
	return scratch_columns(p);
}

/* One line for all locals that are optimized out. */
static void put_lost_locals(struct xc_paint *p, const struct xc_stack_row *row, size_t count)
{
	xc_render_lost(clean_scratch(p), row, count);
	if (!p->scratch.len)
		return;
	xc_paint_pad(p, VARIABLE_INDENT);
	xc_paint_wrapped(p, XC_DIM, scratch(p), VARIABLE_INDENT + 4, VALUE_LINES);
	xc_paint_line(p);
}

static const char *type_of(const struct xc_variable_text *variable)
{
	return variable->short_type ? variable->short_type : variable->type ? variable->type : "";
}

static void put_locals(struct xc_paint *p, const struct xc_stack_row *row)
{
	size_t name = 0, type = 0, count = smaller(row->local_count, MAX_VARIABLES);
	for (size_t i = 0; i < count; i++) {
		if (xc_render_is_lost(&row->locals[i]))
			continue;
		name = larger(name, smaller(name_columns(p, row->locals[i].name), cap(p, NAME_CAP)));
		type = larger(type, smaller(name_columns(p, type_of(&row->locals[i])), cap(p, TYPE_CAP)));
	}
	for (size_t i = 0; i < count; i++) {
		const struct xc_variable_text *local = &row->locals[i];
		if (xc_render_is_lost(local))
			continue;
		xc_paint_pad(p, VARIABLE_INDENT);
		xc_text_name(clean_scratch(p), local->name ? local->name : "?");
		xc_paint_cut(p, XC_PLAIN, scratch(p), cap(p, NAME_CAP));
		xc_paint_pad(p, VARIABLE_INDENT + name + 2);
		xc_text_name(clean_scratch(p), type_of(local));
		xc_paint_cut(p, XC_DIM, scratch(p), cap(p, TYPE_CAP));
		size_t at = VARIABLE_INDENT + name + 2 + type + 2;
		xc_paint_pad(p, at);
		xc_render_variable(clean_scratch(p), local, p->options->redact);
		xc_paint_wrapped(p, local->value ? XC_PLAIN : XC_DIM, scratch(p), at, VALUE_LINES);
		xc_paint_line(p);
	}
	put_lost_locals(p, row, count);
	if (row->local_count > count) {
		xc_paint_pad(p, VARIABLE_INDENT);
		xc_text_printf(clean_scratch(p), "… and %zu more", row->local_count - count);
		xc_paint_put(p, XC_DIM, scratch(p));
		xc_paint_line(p);
	}
}

/* Rows */

/* Shorten long names to leave space for the place, if possible. */
static void put_function(struct xc_paint *p, const struct xc_stack_row *row, const struct columns *c)
{
	xc_auto(xc_text_fini) struct xc_text name = {0};
	xc_render_function(clean_scratch(p), row);
	if (scratch_columns(p) <= cap(p, LONG_FUNCTION)) {
		xc_paint_put(p, XC_FUNCTION, scratch(p));
		return;
	}
	xc_render_long_name(&name, scratch(p), cap(p, LONG_FUNCTION));
	xc_paint_cut(p, XC_FUNCTION, xc_text_string(&name), p->width - c->number);
}

static void put_name_and_place(struct xc_paint *p, const struct xc_stack_row *row, const struct columns *c)
{
	if (!row->guest) { /* the number is the one that `print` takes */
		xc_text_printf(clean_scratch(p), "#%u", row->index);
		xc_paint_put(p, XC_DIM, scratch(p));
	}
	xc_paint_pad(p, c->number);
	put_function(p, row, c);
	xc_render_place(clean_scratch(p), row);
	if (!p->scratch.len)
		return;
	if (xc_paint_column(p) + 2 + scratch_columns(p) > p->width) {
		xc_paint_line(p);
		xc_paint_pad(p, VARIABLE_INDENT);
	} else {
		size_t near = xc_paint_column(p) + 2, aligned = larger(near, c->number + c->function + 2);
		xc_paint_pad(p, aligned + scratch_columns(p) <= p->width ? aligned : near);
	}
	xc_paint_cut(p, XC_PLACE, scratch(p), p->width - VARIABLE_INDENT);
}

static void put_marks(struct xc_paint *p, const struct xc_stack_row *row)
{
	bool doubt = false;
	struct xc_text *text = clean_scratch(p);
	xc_render_marks(text, row, &doubt);
	if (!text->len)
		return;
	if (xc_paint_column(p) + 4 + scratch_columns(p) > p->width) {
		xc_paint_line(p);
		xc_paint_pad(p, VARIABLE_INDENT - 2);
	}
	xc_paint_put(p, XC_PLAIN, "  [");
	xc_paint_put(p, doubt ? XC_YELLOW : XC_DIM, scratch(p));
	xc_paint_put(p, XC_PLAIN, "]");
}

static void put_row(struct xc_paint *p, const struct xc_stack_row *row, const struct columns *c, bool args, bool locals)
{
	put_name_and_place(p, row, c);
	put_marks(p, row);
	if (args && row->arg_count) {
		size_t aligned = c->number + c->function + 2 + c->place + 2,
		       at = larger(xc_paint_column(p) + 2, aligned);
		bool fits = at + args_width(p, row) <= p->width + 2; /* the last argument has no ", " after it */
		if (!fits || at + LEAST_ARGS > p->width) {
			xc_paint_line(p);
			at = VARIABLE_INDENT;
		}
		xc_paint_pad(p, at);
		put_args(p, row, at);
	}
	xc_paint_line(p);
	if (locals)
		put_locals(p, row);
}

static void put_left_out(struct xc_paint *p, uint64_t frames, const char *cycle)
{
	struct xc_text *text = clean_scratch(p);
	xc_text_add(text, "  ⋮   ");
	xc_render_count(text, frames);
	xc_text_add(text, frames == 1 ? " frame" : " frames");
	xc_text_add(text, cycle ? " left out; in all " : " left out");
	if (cycle)
		xc_text_name(text, cycle);
	xc_paint_wrapped(p, XC_YELLOW, scratch(p), 6, 0);
	xc_paint_line(p);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Do the rows differ only in their number? */
static bool same_row(const struct xc_stack_row *a, const struct xc_stack_row *b)
{
	return a->function && same_text(a->function, b->function) && same_text(a->file, b->file) &&
	       a->line == b->line && same_text(a->trust, b->trust) && a->inlined == b->inlined &&
	       a->signal == b->signal && a->guest == b->guest && !b->left_out && a->unverified == b->unverified;
}

/* The number of rows from `i` on that are the same, up to a gap. */
static size_t run_of_rows(const struct xc_stack *stack, size_t i, const struct xc_gap *gap)
{
	size_t end = i < gap->at ? gap->at : stack->row_count, n = 1;
	while (i + n < end && same_row(&stack->rows[i], &stack->rows[i + n]))
		n++;
	return n;
}

static void put_notice(struct xc_paint *p, const char *label, const char *string)
{
	xc_paint_put(p, XC_YELLOW, label);
	xc_text_name(clean_scratch(p), string);
	xc_paint_wrapped(p, XC_YELLOW, scratch(p), 6, 0);
	xc_paint_line(p);
}

struct shown {
	bool args, locals;
	bool brief; /* see struct xc_stacks */
};

/* Put the rows. Without values, a run of equal rows is shown once. True when such a run was folded. */
static bool put_rows(struct xc_paint *p, const struct xc_stack *stack, const struct shown *shown)
{
	struct columns c = measure(p, stack);
	struct xc_gap gap = xc_render_gap(stack, shown->brief);
	bool folded = false;
	for (size_t i = 0; i < stack->row_count;) {
		if (gap.frames && i == gap.at && i < stack->row_count) {
			put_left_out(p, gap.frames, stack->cycle);
			gap.frames = 0;
			folded = true;
			i = gap.resume;
			continue;
		}
		const struct xc_stack_row *row = &stack->rows[i];
		if (row->left_out)
			put_left_out(p, row->left_out, NULL);
		bool args = shown->args && !(shown->brief && row->startup);
		bool locals = shown->locals && !(shown->brief && (row->startup || row->runtime));
		bool values = (args && row->arg_count) || (locals && row->local_count);
		size_t run = values ? 1 : run_of_rows(stack, i, &gap);
		put_row(p, row, &c, args, locals);
		if (run < LEAST_RUN) {
			i++;
			continue;
		}
		xc_text_printf(clean_scratch(p), "  ⋮   %zu more of the same", run - 1);
		xc_paint_put(p, XC_DIM, scratch(p));
		xc_paint_line(p);
		folded = true;
		i += run;
	}
	if (gap.frames)
		put_left_out(p, gap.frames, stack->cycle);
	return folded;
}

static void put_stack_rows(struct xc_paint *p, const struct xc_stack *stack, const struct shown *shown)
{
	bool folded = put_rows(p, stack, shown);
	if (stack->cycle && !stack->elided && !folded)
		put_notice(p, "  repeats: ", stack->cycle);
	if (xc_render_stop(stack))
		put_notice(p, stack->row_count ? "  stack ends here: " : "  no stack: ", xc_render_stop(stack));
}

/* Threads and groups */

static bool has_values(const struct xc_stack *stack, bool locals)
{
	for (size_t i = 0; i < stack->row_count; i++)
		if (stack->rows[i].arg_count || (locals && stack->rows[i].local_count))
			return true;
	return false;
}

static bool depths_differ(const struct xc_stacks *stacks, const struct xc_stack_group *group)
{
	const struct xc_stack *first = &stacks->stacks[group->members[0]];
	for (size_t i = 1; i < group->member_count; i++) {
		const struct xc_stack *other = &stacks->stacks[group->members[i]];
		if (other->row_count + other->elided != first->row_count + first->elided)
			return true;
	}
	return false;
}

/* `3 × thread 12 "worker", sleeping   (12, 13, 14)` */
static void put_group_head(struct xc_paint *p, const struct xc_stacks *stacks, const struct xc_stack_group *group,
			   bool values)
{
	xc_text_printf(clean_scratch(p), "%zu × ", group->member_count);
	xc_render_thread(&p->scratch, &stacks->stacks[group->members[0]]);
	xc_render_waits(&p->scratch, &stacks->stacks[group->members[0]], group, p->options->redact);
	xc_paint_wrapped(p, XC_BOLD, scratch(p), VARIABLE_INDENT, 0);
	struct xc_text *text = clean_scratch(p);
	xc_text_add(text, "   and ");
	for (size_t i = 1; i < group->member_count && i <= MAX_TIDS; i++) {
		xc_text_add(text, i > 1 ? ", " : "");
		xc_render_member(text, &stacks->stacks[group->members[i]]);
	}
	if (group->member_count > MAX_TIDS + 1)
		xc_text_printf(text, ", … (%zu more)", group->member_count - 1 - MAX_TIDS);
	if (values && has_values(&stacks->stacks[group->members[0]], stacks->full)) {
		xc_text_add(text, "; the values are those of ");
		xc_render_member(text, &stacks->stacks[group->members[0]]);
	}
	if (depths_differ(stacks, group))
		xc_text_add(text, "; in different depths of recursion");
	xc_paint_wrapped(p, XC_DIM, scratch(p), VARIABLE_INDENT, 0);
}

static void put_stack(struct xc_paint *p, const struct xc_stacks *stacks, const struct xc_stack *stack,
		      const struct xc_stack_group *group)
{
	bool values = stack->crashed || !stacks->brief;
	xc_paint_blank(p);
	if (group && group->member_count > 1) {
		put_group_head(p, stacks, group, values);
	} else {
		xc_render_thread(clean_scratch(p), stack);
		xc_render_waits(&p->scratch, stack, NULL, p->options->redact);
		xc_paint_wrapped(p, stack->crashed ? XC_RED : XC_BOLD, scratch(p), VARIABLE_INDENT, 0);
	}
	xc_paint_line(p);
	put_stack_rows(p, stack,
		       &(struct shown){.args = values, .locals = values && stacks->full, .brief = stacks->brief});
}

void xc_paint_stacks(struct xc_paint *p, const struct xc_stacks *stacks)
{
	for (size_t i = 0; i < stacks->group_count; i++) {
		const struct xc_stack_group *group = &stacks->groups[i];
		if (group->member_count)
			put_stack(p, stacks, &stacks->stacks[group->members[0]], group);
	}
	for (size_t i = 0; !stacks->group_count && i < stacks->stack_count; i++)
		put_stack(p, stacks, &stacks->stacks[i], NULL);
}
