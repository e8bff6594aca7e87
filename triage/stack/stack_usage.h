/* stack_usage: what fills a stack. Every frame is walked, few are kept. */
#ifndef XC_STACK_USAGE_H
#define XC_STACK_USAGE_H

#include "triage/crash/crash_context.h"

enum {
	XC_STACK_USAGE_FRAMES = 1 << 20, /* frames to walk at most */
	XC_STACK_USAGE_PERIOD = 64,      /* frames of a round at most */
	XC_STACK_USAGE_ENDS = 256,       /* outermost frames to keep */
};

/* A function with frames on the stack, including functions inlined into it. */
struct xc_stack_user {
	xc_addr lookup; /* an address in it (xc_frame_lookup) */
	/* Without parameters; NULL when it has none. Of a library function: user code inlined into it, if any. */
	const char *name;
	const char *function; /* its own name */
	bool own;             /* it, or the inlined one, is user code */
	uint64_t frames, bytes;
	size_t first; /* number of its innermost frame */
};

struct xc_stack_usage {
	struct xc_stack_user *users; /* those with most bytes first */
	size_t user_count;
	uint16_t *user_of;     /* of each frame, from the innermost: an index in users */
	uint64_t frame_count;  /* frames walked */
	bool cut;              /* there are more */
	bool lost;             /* there may be more, but unwinding failed */
	uint64_t bytes;        /* of all frames */
	uint64_t largest;      /* bytes of the largest frame */
	uint64_t largest_at;   /* its number */
	struct xc_frame *ends; /* the outermost frames, outermost last */
	size_t end_count;
	/* The longest stretch in which the same functions recur in the same order. */
	size_t period;         /* frames of a round; 0: there is none */
	uint64_t cycle_at;     /* number of its innermost frame */
	uint64_t cycle_frames; /* in it, whole rounds and the rest */
	uint64_t cycle_bytes;  /* of its whole rounds */
};

/* Walk the crashed stack outward from the fault, as far as it is in `stack` (or below it). All results are in the
 * arena. */
void xc_stack_usage_count(const struct xc_crash_context *crash, const struct xc_mapping *stack, xc_addr lowest,
			  struct xc_arena *arena, struct xc_stack_usage *out);

/* The frame with this number, when it was kept: one of the crash context's, or of `ends`; else NULL. */
const struct xc_frame *xc_stack_usage_frame(const struct xc_crash_context *crash, const struct xc_stack_usage *use,
					    uint64_t number);

#endif
