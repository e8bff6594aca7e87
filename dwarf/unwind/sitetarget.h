/* sitetarget: the target of the call or jump that a call site describes.
 *
 * The instruction itself is the best evidence: it goes to the actual copy of an inline function, clone or interposed
 * function, where debug information names the function of the source. Next come a DIE that has code, then a name that
 * can mean only one function, then a call target that is a constant. */
#ifndef XC_SITETARGET_H
#define XC_SITETARGET_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_site {
	const struct xc_process *process;
	struct xc_module *module;
	Dwarf_Die *die; /* DW_TAG_call_site, DW_TAG_GNU_call_site */
	xc_addr end;    /* just after the instruction */
	bool jump;      /* a tail call */
};

/* A function that a call probably goes to; its DIE may be NULL. */
struct xc_callee {
	xc_addr entry;
	Dwarf_Die *die;
};

/* The first instruction of the function at a place, and its DIE (addr NULL: only a symbol names it). 0 when unknown. */
xc_addr xc_site_function(const struct xc_place *place, Dwarf_Die *die_out);

/* The first instruction of the function that a site calls; 0 when unknown. likely (may be NULL) is compared first, at
 * no cost. */
xc_addr xc_site_target(const struct xc_site *site, const struct xc_callee *likely);

/* Does the site name a function? Otherwise it is an indirect call, or one that the compiler inserted. */
bool xc_site_names(Dwarf_Die *site, Dwarf_Die *function_out);

#endif
