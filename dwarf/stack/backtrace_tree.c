/* backtrace_tree: the stacks of all threads as a tree for flame graphs. */
#include "dwarf/stack/backtrace.h"

static void add_to_tree(struct xc_stacktree *tree, const struct xc_stack *stack, const char **names)
{
	size_t count = 0;
	for (size_t i = stack->row_count; i-- > 0;) { /* outermost first */
		const struct xc_stack_row *row = &stack->rows[i];
		names[count++] = row->signal && !row->function ? "<signal handler called>"
				 : row->function               ? row->function
				 : row->module                 ? row->module
							       : "??";
		if (stack->elided && i == stack->elided_at)
			names[count++] = "…";
	}
	if (count)
		xc_stacktree_add(tree, names, count, 1);
}

void xc_backtrace_tree(struct xc_stacktree *tree, struct xc_process *process)
{
	struct xc_report *report = xc_report_new("flame");
	struct xc_section *section = xc_report_section(report, "stacks", "Stacks");
	const struct xc_backtrace_options options = {.choice = XC_THREADS_ALL};
	xc_error_free(xc_backtrace(section, process, &options)); /* it fails only for a thread that is asked for */
	const struct xc_stacks *stacks = section->items->stacks;
	for (size_t i = 0; i < stacks->stack_count; i++) {
		xc_auto(xc_freep) const char **names = xc_alloc((stacks->stacks[i].row_count + 1) * sizeof *names);
		add_to_tree(tree, &stacks->stacks[i], names);
	}
	xc_report_free(report);
}
