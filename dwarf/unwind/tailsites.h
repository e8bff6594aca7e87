/* tailsites: the tail calls of a function. */
#ifndef XC_TAILSITES_H
#define XC_TAILSITES_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_tailsite {
	xc_addr target; /* the first instruction of a function */
	xc_addr end;    /* just after the jump */
};

struct xc_tailsites {
	bool whole; /* false: there may be others, or some targets are unknown; then no item is given */
	const struct xc_tailsite *items;
	size_t count;
};

struct xc_disas;

/* Read those of the function that begins at `entry`. *disas (NULL at first, closed by the caller) is opened when the
 * length of an instruction is needed. The items live in the arena. */
void xc_tailsites_read(const struct xc_process *process, xc_addr entry, struct xc_arena *arena, struct xc_disas **disas,
		       struct xc_tailsites *out);

#endif
