/* frame_scope: where in a process an expression is read from: a thread, a frame of it, and in that the inlined function
 * whose variables are in scope. */
#ifndef XC_FRAME_SCOPE_H
#define XC_FRAME_SCOPE_H

#include "dwarf/stack/variable.h"

struct xc_frame_scope {
	const struct xc_process *process;
	const struct xc_thread *thread; /* NULL: the process has none */
	struct xc_unwinder *unwinder;   /* owned; NULL where the machine's stacks are not supported */
	bool has_frame;
	struct xc_frame frame;        /* valid when has_frame; so is place */
	const struct xc_place *place; /* never NULL with a frame; may be without levels */
	size_t level;                 /* of the place: 0 the innermost inlined function */
	unsigned row;                 /* as `bt` counts: inlined functions are frames of their own */
	const char *why_no_frame;     /* static or of the process */
	bool without_hints; /* nobody reads what else a name could mean: all names of the process are looked at for that */
};

/* The frame with index `row` of a thread's stack; thread NULL: the crashed one, else the first. Row 0 of a thread without
 * registers is no error: names are global then, and why_no_frame says why. Fini also after an error.
 * Errors: XC_ERR_NOT_FOUND when the stack has fewer frames (and says how many, and why it ends). */
XC_MUST_CHECK struct xc_error *xc_frame_scope_open(struct xc_frame_scope *scope, const struct xc_process *process,
						   const struct xc_thread *thread, unsigned row);
void xc_frame_scope_fini(struct xc_frame_scope *scope);

/* Go on to the next row; false at the end of the stack. */
bool xc_frame_scope_up(struct xc_frame_scope *scope);

/* The function of the row, or NULL; and the unit it stands in (false without debug information). */
const char *xc_frame_scope_function(const struct xc_frame_scope *scope);
bool xc_frame_scope_unit(const struct xc_frame_scope *scope, Dwarf_Die *unit_out);

/* What expressions of DWARF need of it. The result is good as long as the scope stays. */
struct xc_frame_context xc_frame_scope_context(const struct xc_frame_scope *scope);

#endif
