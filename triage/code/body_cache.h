/* body_cache: the functions whose code the rules read. Each is decoded once. */
#ifndef XC_BODY_CACHE_H
#define XC_BODY_CACHE_H

#include "triage/code/body.h"

struct xc_body_cache;

/* The cache and its bodies live in the arena. */
struct xc_body_cache *xc_body_cache_new(const struct xc_process *process, struct xc_arena *arena);

/* The function around an address. NULL when xc_body_read returns none, or when the limit of decoded code is reached:
 * the stack of a core may lead anywhere. */
struct xc_body *xc_body_cache_get(struct xc_body_cache *bodies, xc_addr addr);

#endif
