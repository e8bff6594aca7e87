/* godeath: a death that Go's run-time made of a panic or of what cannot be recovered, and its frames. Private to go*.c. */
#ifndef XC_GODEATH_H
#define XC_GODEATH_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"

struct xc_godeath {
	struct xc_crash_context *crash;
	struct xc_goruntime go;
	bool g_known;
	xc_addr g; /* the goroutine that died */
	size_t at; /* frame of gopanic(), throw() */
};

/* What the function that frames[index] is of is called, not what was inlined into it; "" when that is not known, or there is no
 * such frame. */
const char *xc_godeath_name(const struct xc_crash_context *crash, size_t index);

/* Is frames[index] of the run-time, below what it calls the program from? */
bool xc_godeath_is_runtime(const struct xc_crash_context *crash, size_t index);

/* The frame with this name among those of the run-time that frames[from] begins; frame_count when there is none. */
size_t xc_godeath_before_program(const struct xc_crash_context *crash, size_t from, const char *name);

/* The class panic; the cause is who is blamed, or "a goroutine" where that is the run-time or nobody, and the words. kind may be NULL. */
void xc_godeath_classify(struct xc_godeath *d, const char *kind, const char *confidence, const char *words);

#endif
