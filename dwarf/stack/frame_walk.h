/* frame_walk: the frames of a stack, the innermost first, each with what its variables need.
 *
 *	struct xc_frame_walk walk;
 *	for (xc_frame_walk_begin(&walk, process, unwinder, thread, FRAMES); xc_frame_walk_next(&walk);)
 *		look_at(&walk.context); */
#ifndef XC_FRAME_WALK_H
#define XC_FRAME_WALK_H

#include "dwarf/stack/variable.h"

struct xc_frame_walk {
	struct xc_frame_context context; /* of `frame`; valid until the next step */
	struct xc_frame frame;           /* frame.index counts them from 0 */
	const struct xc_frame *first;    /* NULL: the innermost */
	unsigned left;
	bool begun;
};

/* Begin before the innermost frame of a thread; at most `most` frames are walked. Everything is borrowed. A thread
 * whose registers are not known, and a machine whose stacks are not supported, have no frames. */
void xc_frame_walk_begin(struct xc_frame_walk *walk, const struct xc_process *process, struct xc_unwinder *unwinder,
			 const struct xc_thread *thread, unsigned most);

/* Begin at a frame of the thread, which is the first one; `first` is read by the first step. */
void xc_frame_walk_from(struct xc_frame_walk *walk, const struct xc_process *process, struct xc_unwinder *unwinder,
			const struct xc_thread *thread, const struct xc_frame *first, unsigned most);

/* Step to the next frame; false at the end of the stack. A damaged stack ends too. */
bool xc_frame_walk_next(struct xc_frame_walk *walk);

#endif
