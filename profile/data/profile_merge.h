/* profile_merge: several profiles in one set of tables: equal functions, frames and stacks are one. */
#ifndef XC_PROFILE_MERGE_H
#define XC_PROFILE_MERGE_H

#include "profile/data/profile_data.h"

/* Add functions, frames, stacks, threads, waits and sums of a profile to another's. Threads are new ones even where
 * they are equal, and sums: they follow those that were there, in their order. */
void xc_profile_add_all(struct xc_profile_data *to, const struct xc_profile_data *from);

/* Profiles of several processes, at least one, as one: slices on a common clock, counts and times of the accounts added
 * up, and a line of the account for each. Borrows nothing. Errors: XC_ERR_UNSUPPORTED, they count different things. */
XC_MUST_CHECK struct xc_error *xc_profile_merge(struct xc_profile_data *const *profiles, size_t count,
						struct xc_profile_data **data_out);

#endif
