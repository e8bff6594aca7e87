#include "dwarf/stack/frame_walk.h"

void xc_frame_walk_begin(struct xc_frame_walk *walk, const struct xc_process *process, struct xc_unwinder *unwinder,
			 const struct xc_thread *thread, unsigned most)
{
	walk->context = (struct xc_frame_context){
		.process = process, .thread = thread, .unwinder = unwinder, .frame = &walk->frame};
	walk->first = NULL;
	walk->left = process->arch->unwinds ? most : 0;
	walk->begun = false;
}

void xc_frame_walk_from(struct xc_frame_walk *walk, const struct xc_process *process, struct xc_unwinder *unwinder,
			const struct xc_thread *thread, const struct xc_frame *first, unsigned most)
{
	xc_frame_walk_begin(walk, process, unwinder, thread, most);
	walk->first = first;
}

static bool step(struct xc_frame_walk *w)
{
	const char *stop;
	if (w->begun)
		return xc_unwind_step(w->context.unwinder, &w->frame, &w->frame, &stop);
	if (!w->first)
		return xc_unwind_first(w->context.unwinder, w->context.thread, &w->frame);
	w->frame = *w->first;
	return true;
}

bool xc_frame_walk_next(struct xc_frame_walk *walk)
{
	if (!walk->left || !step(walk)) {
		walk->left = 0;
		return false;
	}
	walk->begun = true;
	walk->left--;
	walk->context.place = xc_debuginfo_place(walk->context.process, xc_frame_lookup(&walk->frame));
	return true;
}
