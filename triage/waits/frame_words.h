/* frame_words: a walk over the words in which frames may keep a value: the registers that calls preserve, as each frame
 * has them, and the stack.
 *
 *	struct xc_frame_words walk = xc_frame_words(process, frame, 1, caller, 64);
 *	while (xc_frame_words_next(&walk, &value))
 *		…
 *
 * Registers and words whose value is not known are left out. */
#ifndef XC_FRAME_WORDS_H
#define XC_FRAME_WORDS_H

#include "dwarf/unwind/unwind.h"

enum { XC_FRAME_REGISTERS = 16 }; /* registers of DWARF numbers below this are visited */

struct xc_frame_words {
	const struct xc_process *process;
	const struct xc_frame *frames; /* those whose registers are not visited yet */
	size_t count;
	int reg;         /* the next one, of the first of them */
	xc_addr at, end; /* the stack that is not visited yet */
	unsigned left;   /* and how many of its words may be */
};

/* Begin a walk: first the registers of `count` frames, innermost first, then at most `words` words of the stack, from
 * the stack pointer of the first frame to that of the frame `until`, exclusive. There are no words when `until` is
 * NULL, or one of the two is not known. The frames are borrowed for the walk. */
static inline struct xc_frame_words xc_frame_words(const struct xc_process *process, const struct xc_frame *frames,
						   size_t count, const struct xc_frame *until, unsigned words)
{
	struct xc_frame_words w = {.process = process, .frames = frames, .count = count, .left = words};
	if (!until || !xc_regs_get(&frames->regs, process->arch->sp, &w.at) ||
	    !xc_regs_get(&until->regs, process->arch->sp, &w.end))
		w.left = 0;
	return w;
}

/* The next word; false at the end. */
static inline bool xc_frame_words_next(struct xc_frame_words *w, uint64_t *value_out)
{
	const struct xc_arch *arch = w->process->arch;
	for (; w->count; w->count--, w->frames++, w->reg = 0)
		while (w->reg < XC_FRAME_REGISTERS) {
			int r = w->reg++;
			if ((arch->preserved[0] >> r & 1) && xc_regs_get(&w->frames->regs, r, value_out))
				return true;
		}
	while (w->left && w->at < w->end) {
		xc_addr at = w->at;
		w->at += arch->word;
		w->left--;
		if (xc_space_peek_uint(w->process->space, at, arch->word, value_out))
			return true;
	}
	return false;
}

#endif
