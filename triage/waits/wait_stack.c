/* wait_stack: see wait_impl.h. */
#include "triage/waits/wait_impl.h"

#include <stdlib.h>

#include "core/process/module.h"
#include "triage/util/user_code.h"

void xc_wait_stack_init(struct xc_wait_stack *w, struct xc_process *process, const struct xc_waits *waits)
{
	*w = (struct xc_wait_stack){.process = process, .waits = waits, .unwinder = xc_unwinder_new(process)};
	w->is_static = xc_modules_are_static(process);
	w->frames = xc_alloc(XC_WAIT_FRAMES * sizeof *w->frames);
}

void xc_wait_stack_fini(struct xc_wait_stack *w)
{
	free(w->frames);
	xc_unwinder_free(w->unwinder);
}

void xc_wait_stack_unwind(struct xc_wait_stack *w, const struct xc_thread *thread)
{
	const char *stop;
	w->count = w->base = 0;
	if (!w->process->arch->unwinds || !xc_unwind_first(w->unwinder, thread, &w->frames[0]))
		return;
	for (w->count = 1; w->count < XC_WAIT_FRAMES; w->count++)
		if (!xc_unwind_step(w->unwinder, &w->frames[w->count - 1], &w->frames[w->count], &stop))
			break;
	w->signal = w->count;
	for (size_t i = 0; i + 1 < w->count; i++) {
		if (!w->frames[i].signal)
			continue;
		w->base = i + 1;
		w->signal = w->signal < i ? w->signal : i;
	}
}

const struct xc_place *xc_wait_stack_place(const struct xc_wait_stack *w, size_t index)
{
	return xc_debuginfo_place(w->process, xc_frame_lookup(&w->frames[index]));
}

bool xc_wait_stack_is_runtime(const struct xc_wait_stack *w, size_t index)
{
	const struct xc_place *place = xc_wait_stack_place(w, index);
	size_t level;
	return (w->is_static && !place->level_count) || !xc_user_code_level(place, &level);
}

size_t xc_wait_stack_inner_end(const struct xc_wait_stack *w)
{
	return w->count - w->base < XC_WAIT_STACK_INNER ? w->count : w->base + XC_WAIT_STACK_INNER;
}
