/* godeath: a death by a panic or a fatal error of Go's runtime, and its frames. Private to go*.c. */
#ifndef XC_GODEATH_H
#define XC_GODEATH_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"

struct xc_godeath {
	struct xc_crash_context *crash;
	struct xc_goruntime go;
	bool g_known;
	xc_addr g; /* the crashed goroutine */
	size_t at; /* frame of gopanic() or throw() */
};

/* The name of the function of frames[index], not of one inlined into it. "" when it is not known, or there is no
 * such frame. */
const char *xc_godeath_name(const struct xc_crash_context *crash, size_t index);

/* Is frames[index] a frame of the runtime, below the ones from which it calls the program? */
bool xc_godeath_is_runtime(const struct xc_crash_context *crash, size_t index);

/* The frame with this name among the consecutive runtime frames that start at frames[from]; frame_count when there
 * is none. */
size_t xc_godeath_before_program(const struct xc_crash_context *crash, size_t from, const char *name);

/* Set the class panic. The cause is the blamed function (or "a goroutine" where that is the runtime, or nobody),
 * followed by `words`. kind may be NULL. */
void xc_godeath_classify(struct xc_godeath *d, const char *kind, const char *confidence, const char *words);

/* Set the headline, "panic: send on closed channel", where the signal says no more than that the runtime ended the
 * program. */
void xc_godeath_headline(struct xc_godeath *d, const char *what, const char *text);

#endif
