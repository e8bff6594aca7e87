/* tailsites: the tail calls that a function may leave by. */
#ifndef XC_TAILSITES_H
#define XC_TAILSITES_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_tailsite {
	xc_addr target; /* the first instruction of a function */
	xc_addr end;    /* just behind the jump */
};

struct xc_tailsites {
	bool whole; /* false: there may be others, or their targets are not all known; then none is given */
	const struct xc_tailsite *items;
	size_t count;
};

struct xc_disas;

/* Those of the function that begins at `entry`. *disas (NULL at first, to be closed by the caller) is opened when an instruction has
 * to be measured. The items live in the arena. */
void xc_tailsites_read(const struct xc_process *process, xc_addr entry, struct xc_arena *arena, struct xc_disas **disas,
		       struct xc_tailsites *out);

#endif
