/* blame: which frame of a stack a person should look at first.
 *
 * abort() and the functions that call it, the C library's string functions, the C++ runtime's throw machinery: the caller
 * is to blame, not they. Frames are skipped only when they belong to such a library (or, in a static program, carry one
 * of its known names). */
#ifndef XC_BLAME_H
#define XC_BLAME_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"

struct xc_blame {
	const struct xc_place *place; /* of the frame to look at; NULL when there is none */
	size_t level;                 /* the inlined function within it */
	struct xc_frame frame;
	const char *through;        /* the library function that was called from there ("strlen"), or NULL */
	const char *through_module; /* its module's name */
};

/* Walk from `from` outward to the first frame that is the program's own; the first frame when there is none. */
struct xc_blame xc_blame_find(const struct xc_process *process, struct xc_unwinder *unwinder,
			      const struct xc_frame *from);

#endif
