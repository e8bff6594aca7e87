/* profile_pair: two profiles in one set of tables, to compare them: equal functions, frames and stacks are one. */
#ifndef XC_PROFILE_PAIR_H
#define XC_PROFILE_PAIR_H

#include "profile/data/profile_data.h"

struct xc_profile_pair {
	struct xc_profile_data *data; /* without facts and slices */
	size_t sums;                  /* the first ones are of the earlier profile, the others of the later */
	uint32_t threads;             /* likewise */
};

/* Borrows nothing of the two. */
void xc_profile_pair_init(struct xc_profile_pair *pair, const struct xc_profile_data *earlier,
			  const struct xc_profile_data *later);
void xc_profile_pair_fini(struct xc_profile_pair *pair);

#endif
