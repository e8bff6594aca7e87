/* blame: the frame of a stack to look at first.
 *
 * abort() and the functions that call it, the string functions of the C library and the throw machinery of the C++
 * runtime are skipped: their caller is to blame. Frames are skipped only when they belong to such a library (or, in
 * a static program, have one of its known names). */
#ifndef XC_BLAME_H
#define XC_BLAME_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"

struct xc_blame {
	const struct xc_place *place; /* of the frame to look at; NULL when there is none */
	size_t level;                 /* the inlined function within it */
	struct xc_frame frame;
	const char *through;        /* the library function called from there ("strlen"), or NULL */
	const char *through_module; /* its module's name */
	xc_addr nameless;           /* the frame in no module that died, or that called `through`; 0: none */
	const char *caller;         /* the function that called it; the frame to look at may be changed later */
	uint32_t caller_frame;      /* the index of that function's frame; meaningful when through */
};

/* Walk outward from `from` to the first frame of user code; the first frame when there is none. */
struct xc_blame xc_blame_find(const struct xc_process *process, struct xc_unwinder *unwinder,
			      const struct xc_frame *from);

#endif
