/* handled_signal: see handled_signal.h. */
#include "triage/crash/handled_signal.h"

#include <signal.h>

#include "core/facts/facts.h"
#include "triage/crash/signal_frame.h"

enum { LAST_SIGNAL = 64, NUMBER_SIZE = 4 };

/* The siginfo is there for some handlers only; of others the bytes may be those of an earlier signal. */
static void add_siginfo(const struct xc_crash_context *crash, const struct xc_frame *trampoline,
			struct xc_handled_signal *found)
{
	struct xc_signal_frame saved;
	const struct xc_process *p = crash->process;
	uint64_t sp;
	if (!xc_regs_get(&trampoline->regs, p->arch->sp, &sp) || !xc_signal_frame_read(p, trampoline->pc, sp, &saved) ||
	    !saved.info_known || (found->signal && found->signal != saved.signal))
		return;
	found->signal = saved.signal;
	found->kernel = saved.code > 0 || saved.code == SI_TIMER;
}

/* The handler is the outermost function of its frame. A frame that left by a tail call has no registers. */
static int from_argument(const struct xc_crash_context *crash, size_t handler)
{
	const struct xc_frame_context context = xc_crash_context_frame(crash, handler);
	struct xc_named_value *arguments;
	uint64_t number, size;
	if (context.frame->tail_call || !context.place->level_count || context.place->line_only)
		return 0;
	size_t count =
		xc_variable_values(&context, context.place->level_count - 1, false, &crash->report->arena, &arguments);
	const struct xc_type *type = count ? xc_type_strip(arguments[0].value.type) : NULL;
	bool integer = type && type->kind == XC_TYPE_INT && xc_type_size(type, &size) && size == NUMBER_SIZE;
	if (!integer || !xc_value_load(&arguments[0].value, &number) || number > LAST_SIGNAL)
		return 0;
	return (int)number;
}

struct xc_handled_signal xc_handled_signal_find(const struct xc_crash_context *crash)
{
	struct xc_handled_signal found = {.in_handler = false};
	for (size_t i = 1; i < crash->frame_count && !crash->fault.in_handler && !found.in_handler; i++) {
		if (!crash->frames[i].signal)
			continue;
		found.in_handler = true;
		found.signal = from_argument(crash, i - 1);
		add_siginfo(crash, &crash->frames[i], &found);
	}
	found.again = found.signal && found.signal == crash->fault.signal;
	return found;
}

const char *xc_handled_signal_words(const struct xc_crash_context *crash, const struct xc_handled_signal *handled)
{
	if (!handled->in_handler)
		return NULL;
	if (!handled->signal)
		return "in a signal handler: which signal came first, and from where, is not known";
	return xc_arena_printf(&crash->report->arena, "in its handler of %s%s", xc_signal_name(handled->signal),
			       handled->kernel  ? ", which the kernel had sent"
			       : handled->again ? ": where the first one came from is not known"
						: ": from where that came is not known");
}
