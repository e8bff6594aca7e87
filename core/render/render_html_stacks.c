/* render_html_stacks: a thread (or a group with equal stacks) is a <details>, open when it crashed or is the only one.
 * A frame with locals is a nested one. */
#include "core/render/render_html.h"

#include <string.h>

enum { MAX_VARIABLES = 400, MAX_TIDS = 200 };

static struct xc_text *clean_scratch(struct xc_html *html)
{
	html->scratch.len = 0;
	xc_text_addn(&html->scratch, "", 0);
	return &html->scratch;
}

static void put_value(struct xc_html *html, const struct xc_variable_text *variable)
{
	xc_html_put(html, variable->value ? "<span>" : "<span class=\"none\">");
	xc_render_variable(clean_scratch(html), variable, html->options->redact);
	xc_html_text(html, html->scratch.bytes);
	xc_html_put(html, "</span>");
}

static void put_args(struct xc_html *html, const struct xc_stack_row *row)
{
	xc_html_put(html, "<span class=\"args\">");
	for (size_t i = 0; i < row->arg_count && i < MAX_VARIABLES; i++) {
		xc_html_put(html, i ? ", <i>" : "<i>");
		xc_html_name(html, row->args[i].name ? row->args[i].name : "?");
		xc_html_put(html, "=</i>");
		put_value(html, &row->args[i]);
	}
	xc_html_put(html, "</span>");
}

static void put_locals(struct xc_html *html, const struct xc_stack_row *row)
{
	xc_html_put(html, "<div class=\"vars\"><table>");
	size_t count = row->local_count < MAX_VARIABLES ? row->local_count : MAX_VARIABLES;
	for (size_t i = 0; i < count; i++) {
		const struct xc_variable_text *local = &row->locals[i];
		if (xc_render_is_lost(local))
			continue;
		xc_html_put(html, "<tr><td>");
		xc_html_name(html, local->name ? local->name : "?");
		xc_html_put(html, "</td><td><i>");
		xc_html_name(html, local->short_type ? local->short_type : local->type ? local->type : "");
		xc_html_put(html, "</i></td><td>");
		put_value(html, local);
		xc_html_put(html, "</td></tr>\n");
	}
	if (row->local_count > MAX_VARIABLES)
		xc_text_printf(&html->page, "<tr><td>… and %zu more</td></tr>", row->local_count - MAX_VARIABLES);
	xc_html_put(html, "</table>");
	xc_render_lost(clean_scratch(html), row, count);
	if (html->scratch.len) {
		xc_html_put(html, "<div class=\"none\">");
		xc_html_text(html, html->scratch.bytes);
		xc_html_put(html, "</div>");
	}
	xc_html_put(html, "</div>");
}

static void put_frame(struct xc_html *html, const struct xc_stack_row *row, bool args, bool locals)
{
	bool doubt = false, folds = locals && row->local_count;
	xc_text_printf(&html->page, folds ? "<details class=\"frame\" open><summary>" : "<div class=\"frame\">");
	if (row->guest)
		xc_html_put(html, "<span class=\"n\"></span>");
	else
		xc_text_printf(&html->page, "<span class=\"n\">#%u</span>", row->index);
	xc_html_put(html, "<span class=\"fn\">");
	xc_render_function(clean_scratch(html), row);
	xc_html_text(html, html->scratch.bytes);
	xc_html_put(html, "</span><span class=\"place\"");
	if (row->file) {
		xc_html_put(html, " title=\"");
		xc_html_name(html, row->file);
		xc_html_put(html, "\"");
	}
	xc_html_put(html, ">");
	xc_render_place(clean_scratch(html), row);
	xc_html_text(html, html->scratch.bytes);
	xc_html_put(html, "</span>");
	xc_render_marks(clean_scratch(html), row, &doubt);
	if (html->scratch.len) {
		xc_html_put(html, doubt ? " <span class=\"tag doubt\">" : " <span class=\"tag\">");
		xc_html_text(html, html->scratch.bytes);
		xc_html_put(html, "</span>");
	}
	if (args && row->arg_count)
		put_args(html, row);
	xc_html_put(html, folds ? "</summary>" : "");
	if (folds)
		put_locals(html, row);
	xc_html_put(html, folds ? "</details>\n" : "</div>\n");
	xc_html_flush(html, false);
}

static void put_elided(struct xc_html *html, const char *cycle, uint64_t frames)
{
	struct xc_text *text = clean_scratch(html);
	xc_html_put(html, "<div class=\"ends\">⋮ ");
	if (frames) {
		xc_render_count(text, frames);
		xc_text_add(text, " frames left out");
	}
	if (cycle) {
		xc_text_add(text, frames ? "; in all " : "repeats: ");
		xc_text_name(text, cycle);
	}
	xc_html_text(html, text->bytes);
	xc_html_put(html, "</div>\n");
}

static void put_frames(struct xc_html *html, const struct xc_stack *stack, bool args, bool locals, bool brief)
{
	const struct xc_gap gap = xc_render_gap(stack, brief);
	for (size_t i = 0; i < stack->row_count; i++) {
		if (gap.frames && i == gap.at)
			put_elided(html, stack->cycle, gap.frames);
		if (gap.frames && i >= gap.at && i < gap.resume)
			continue;
		const struct xc_stack_row *row = &stack->rows[i];
		if (row->left_out)
			put_elided(html, NULL, row->left_out);
		put_frame(html, row, args && !(brief && row->startup),
			  locals && !(brief && (row->startup || row->runtime)));
	}
	if (gap.frames ? gap.at >= stack->row_count : stack->cycle != NULL)
		put_elided(html, stack->cycle, gap.frames);
	if (xc_render_stop(stack)) {
		xc_html_put(html, stack->row_count ? "<div class=\"ends\">stack ends here: "
						   : "<div class=\"ends\">no stack: ");
		xc_html_name(html, xc_render_stop(stack));
		xc_html_put(html, "</div>\n");
	}
}

static void put_others(struct xc_html *html, const struct xc_stacks *stacks, const struct xc_stack_group *group)
{
	bool threads = !stacks->stacks[group->members[0]].detached;
	xc_html_put(html, threads ? "<div class=\"quiet mono\">and threads " : "<div class=\"quiet mono\">and ");
	for (size_t i = 1; i < group->member_count && i <= MAX_TIDS; i++) {
		xc_html_put(html, i > 1 ? ", " : "");
		xc_render_member(clean_scratch(html), &stacks->stacks[group->members[i]]);
		xc_html_text(html, html->scratch.bytes);
	}
	if (group->member_count > MAX_TIDS + 1)
		xc_text_printf(&html->page, ", … (%zu more)", group->member_count - 1 - MAX_TIDS);
	xc_html_put(html, "</div>\n");
}

static void put_thread(struct xc_html *html, const struct xc_stacks *stacks, const struct xc_stack *stack,
		       const struct xc_stack_group *group, bool open)
{
	bool values = stack->crashed || !stacks->brief;
	xc_text_printf(&html->page, "<details class=\"thread%s\"%s><summary>", stack->crashed ? " crashed" : "",
		       open ? " open" : "");
	if (group && group->member_count > 1)
		xc_text_printf(&html->page, "%zu × ", group->member_count);
	xc_render_thread(clean_scratch(html), stack);
	xc_render_waits(&html->scratch, stack, group, html->options->redact);
	xc_html_text(html, html->scratch.bytes);
	if (stack->row_count) {
		xc_html_put(html, "<span class=\"top mono\">");
		xc_render_function(clean_scratch(html), &stack->rows[0]);
		xc_html_text(html, html->scratch.bytes);
		xc_html_put(html, "</span>");
	}
	xc_html_put(html, "</summary>\n");
	if (group && group->member_count > 1)
		put_others(html, stacks, group);
	put_frames(html, stack, values, values && stacks->full, stacks->brief);
	xc_html_put(html, "</details>\n");
}

void xc_html_stacks(struct xc_html *html, const struct xc_stacks *stacks)
{
	bool alone = stacks->group_count ? stacks->group_count == 1 : stacks->stack_count == 1;
	for (size_t i = 0; i < stacks->group_count; i++) {
		const struct xc_stack_group *group = &stacks->groups[i];
		if (!group->member_count)
			continue;
		const struct xc_stack *stack = &stacks->stacks[group->members[0]];
		put_thread(html, stacks, stack, group, alone || stack->crashed);
	}
	for (size_t i = 0; !stacks->group_count && i < stacks->stack_count; i++)
		put_thread(html, stacks, &stacks->stacks[i], NULL, alone || stacks->stacks[i].crashed);
}
