/* frame_scope: the scope of an expression: a thread, one of its frames, and an inlined function in that frame. */
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
	unsigned row;                 /* as in `bt`: inlined functions are frames of their own */
	const char *why_no_frame;     /* static or of the process */
	bool without_hints;           /* errors get no suggestions, which search all names of the process */
};

/* The frame with index `row` of a thread's stack; thread NULL: the crashed thread, or the first. Row 0 of a thread
 * without registers is not an error: only global names are found, and why_no_frame has the reason. Call fini even after
 * an error. Errors: XC_ERR_NOT_FOUND when the stack has fewer frames, with their number and the reason of its end. */
XC_MUST_CHECK struct xc_error *xc_frame_scope_open(struct xc_frame_scope *scope, const struct xc_process *process,
						   const struct xc_thread *thread, unsigned row);
void xc_frame_scope_fini(struct xc_frame_scope *scope);

/* Move to row 0 of another thread. Keeps what the unwinder has learned of the code: for walks over all threads. False
 * when its registers are not known. */
bool xc_frame_scope_move(struct xc_frame_scope *scope, const struct xc_thread *thread);

/* Move to the next row; false at the end of the stack. */
bool xc_frame_scope_up(struct xc_frame_scope *scope);

/* The function of the row, or NULL; and its unit (false without debug information). */
const char *xc_frame_scope_function(const struct xc_frame_scope *scope);
bool xc_frame_scope_unit(const struct xc_frame_scope *scope, Dwarf_Die *unit_out);

/* The context for DWARF expressions. Valid as long as the scope. */
struct xc_frame_context xc_frame_scope_context(const struct xc_frame_scope *scope);

#endif
