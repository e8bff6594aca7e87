/* body_cache: the functions whose code an inquiry reads, each decoded once however many rules and steps of theirs ask for it. */
#ifndef XC_BODY_CACHE_H
#define XC_BODY_CACHE_H

#include "triage/code/body.h"

struct xc_body_cache;

/* Lives in the arena, and so do the bodies. */
struct xc_body_cache *xc_body_cache_new(const struct xc_process *process, struct xc_arena *arena);

/* The function round an address. NULL when xc_body_read gives none, or when so much code was decoded that no more is: a core's stack may
 * lead anywhere. */
struct xc_body *xc_body_cache_get(struct xc_body_cache *bodies, xc_addr addr);

#endif
