/* trace: the kept frames of a signature as numbers, which compare quickly: equal numbers are equal frames.
 *
 * A frame is its normalised name. Without a name it is its place: build-id (else the module's name) and offset; never
 * an address or a line. A frame of which not even that is known equals none. */
#ifndef XC_TRACE_H
#define XC_TRACE_H

#include "batch/signature/signature.h"
#include "core/base/hashtable.h"

enum { XC_TRACE_MAX = 64 }; /* frames compared, innermost first */

struct xc_trace {
	uint32_t *frames; /* 0: equals none */
	size_t count;     /* at most XC_TRACE_MAX */
};

/* Numbers the frames from 1, in the order of first occurrence. */
struct xc_tracer {
	struct xc_arena arena; /* also holds the traces */
	struct xc_hashtable spellings;
	uint32_t count;
};

/* The trace of a record with this signature; lives as long as the tracer. */
struct xc_trace xc_trace_make(struct xc_tracer *tracer, const struct xc_record *record,
			      const struct xc_signature *signature);
/* The number of a program's or a build's name, from the same sequence; 0 for NULL. */
uint32_t xc_trace_name(struct xc_tracer *tracer, const char *name);

void xc_tracer_fini(struct xc_tracer *tracer);

#endif
