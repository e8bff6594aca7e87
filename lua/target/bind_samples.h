/* bind_samples: the object that a plugin's `samples` function is given: code whose frames the plugin is asked for, and
 * places in programs of its language. */
#ifndef XC_BIND_SAMPLES_H
#define XC_BIND_SAMPLES_H

#include "dwarf/sample/sample_guest.h"
#include "lua/vm/bind.h"

enum { XC_WATCHED = 64 };

struct xc_samples {
	struct xc_guest_places *places; /* borrowed */
	const char *language;           /* the default of places; borrowed */
	struct {
		xc_addr lo, hi; /* inclusive */
	} watched[XC_WATCHED];
	size_t watched_count;
};

void xc_bind_samples_open(lua_State *L);

/* Push one; it belongs to the state. */
struct xc_samples *xc_bind_push_samples(lua_State *L, struct xc_guest_places *places, const char *language);

#endif
