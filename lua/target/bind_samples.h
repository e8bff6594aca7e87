/* bind_samples: the object that a plugin's `samples` function is given: code whose frames the plugin is asked for,
 * places in programs of its language, and dimensions by which samples can be told apart. */
#ifndef XC_BIND_SAMPLES_H
#define XC_BIND_SAMPLES_H

#include "dwarf/sample/sample_guest.h"
#include "lua/vm/bind.h"

enum { XC_WATCHED = 64, XC_DIMENSIONS = 16 };

struct xc_samples {
	struct xc_guest_places *places; /* borrowed */
	const char *language;           /* the plugin's name, the default of places; borrowed */
	const char *asked;              /* the dimension that is asked for: "nginx.host"; NULL: none; borrowed */
	int value_of;                   /* of it, a function in the registry; LUA_NOREF: the plugin does not tell it */
	const char *dimensions[XC_DIMENSIONS]; /* all that it tells: "nginx.host"; strings in the registry */
	size_t dimension_count;
	struct {
		xc_addr lo, hi; /* inclusive */
	} watched[XC_WATCHED];
	size_t watched_count;
};

void xc_bind_samples_open(lua_State *L);

/* Push one; it belongs to the state. */
struct xc_samples *xc_bind_push_samples(lua_State *L, struct xc_guest_places *places, const char *language,
					const char *asked);

#endif
