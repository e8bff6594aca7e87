/* flame_frames: the different frames of a stack tree, numbered, and its stacks, for formats that keep names once. */
#ifndef XC_FLAME_FRAMES_H
#define XC_FLAME_FRAMES_H

#include "core/report/stacktree.h"
#include "core/text/intern.h"

struct xc_flame_frames {
	const char *title;
	struct xc_intern names; /* clean, as the title: redacted where that is on, and harmless to a terminal */
};

void xc_flame_frames_init(struct xc_flame_frames *frames, const struct xc_stacktree *tree);
void xc_flame_frames_fini(struct xc_flame_frames *frames);

/* Called for each stack that has a weight of its own. numbers: of its frames, outermost first. */
typedef void xc_flame_take(void *ctx, const uint32_t *numbers, size_t count, uint64_t weight);
void xc_flame_frames_each(struct xc_flame_frames *frames, const struct xc_stacktree *tree, xc_flame_take *take,
			  void *ctx);

#endif
