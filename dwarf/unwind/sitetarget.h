/* sitetarget: where the call or jump that a call site describes goes.
 *
 * The instruction itself knows best: it goes to the copy of an inline function, the clone or the interposed function that is really
 * meant, where debug information names the function of the source. Next come a DIE with code of its own, then a name
 * that may stand for one function only, then a call target that is a constant. */
#ifndef XC_SITETARGET_H
#define XC_SITETARGET_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_site {
	const struct xc_process *process;
	struct xc_module *module;
	Dwarf_Die *die; /* DW_TAG_call_site, DW_TAG_GNU_call_site */
	xc_addr end;    /* just behind the instruction */
	bool jump;      /* a tail call */
};

/* A function that a call is thought to go to; its DIE may be NULL. */
struct xc_callee {
	xc_addr entry;
	Dwarf_Die *die;
};

/* The first instruction of the function at a place, and its DIE (addr NULL: only a symbol names it). 0 when neither tells. */
xc_addr xc_site_function(const struct xc_place *place, Dwarf_Die *die_out);

/* The first instruction of the function that a site's call goes to; 0 when that is not known. likely (may be NULL) is compared
 * first, at no cost. */
xc_addr xc_site_target(const struct xc_site *site, const struct xc_callee *likely);

/* Does the site name a function? Else it calls through a pointer, or what the compiler put in. */
bool xc_site_names(Dwarf_Die *site, Dwarf_Die *function_out);

#endif
