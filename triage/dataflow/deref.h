/* deref: the way of a bad value: the place that it was read from, the pointer that led there, the place that this was
 * read from, and so on outward, into the callers. */
#ifndef XC_DEREF_H
#define XC_DEREF_H

#include "triage/dataflow/symbolic_value.h"

enum { XC_DEREFS = 6 };

/* A value that the code read, and from where. */
struct xc_deref {
	const char *text; /* the value, as the source writes it: `book->best`; NULL: no name */
	bool value_known; /* as it was when it was used */
	uint64_t value;
	bool at_known; /* where it was read */
	xc_addr at;
	const char *place; /* the same as the code of crash->frames[frame] writes it: `table[i]`; NULL: no name */
	size_t frame;
	uint32_t size;
	bool exact;          /* `at` is by registers that are unchanged, and not by memory as it is now */
	bool straight;       /* since then the thread has written no memory but its own frame's, and called nothing */
	bool own;            /* it was read from the frame's own stack */
	const char *pointer; /* the pointer that led there, as the source writes it; NULL: none, or no name */
	const struct xc_type *pointer_type; /* NULL: not known */
	bool led_known;                     /* the value of that pointer; false for a variable at a fixed place */
	xc_addr led;
	size_t holder;    /* index into crash->frames: the outermost that has had the pointer */
	bool stack_moves; /* the code that read it moves its stack pointer: it may have been lower then */
};

struct xc_derefs {
	struct xc_deref items[XC_DEREFS]; /* the bad value first */
	size_t count;
};

/* The bad value itself. NULL: no way of one is known; `derefs` may be NULL, too. */
static inline const struct xc_deref *xc_derefs_bad(const struct xc_derefs *derefs)
{
	return derefs && derefs->count ? &derefs->items[0] : NULL;
}

/* Follow a value (its content, when known, else NULL) of the frame's code. Costs slices of its budget. */
void xc_derefs_collect(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term,
		       const uint64_t *value, struct xc_derefs *out);

/* The place of the bad value holds another value now than the one that was read: *now_out. Only where the thread
 * itself has not changed it, nor what led there, since then. */
bool xc_derefs_changed(const struct xc_crash_context *crash, uint64_t *now_out);

#endif
