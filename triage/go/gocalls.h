/* gocalls: where the program's own packages call a function, by their machine code. Private to go*.c. */
#ifndef XC_GOCALLS_H
#define XC_GOCALLS_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/goruntime.h"

enum { XC_GOCALLS = 64 };

struct xc_gocall {
	xc_addr addr;         /* of the call instruction */
	const char *function; /* that the call stands in, an inlined one, too; never NULL */
	const char *callee;   /* never NULL */
	const struct xc_place *place;
	size_t level; /* of the function in it */
};

struct xc_gocalls {
	struct xc_gocall items[XC_GOCALLS];
	size_t count;
	bool more; /* others were left out */
};

/* Direct calls of the functions that begin at the targets, in the order of addresses. Calls of the standard library are
 * left out; with `through`, calls by this function of it ("sync.(*WaitGroup).Done"), inlined into the program's, are
 * the only ones. Reads 128 MiB of code at most. */
void xc_gocalls_find(const struct xc_goruntime *go, const xc_addr *targets, size_t target_count, const char *through,
		     struct xc_gocalls *out);

#endif
