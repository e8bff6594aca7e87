/* profile_finish: what was sampled, as data: all places named, stacks by function and line, sums, the account. */
#ifndef XC_PROFILE_FINISH_H
#define XC_PROFILE_FINISH_H

#include "profile/data/profile_data.h"
#include "profile/profile.h"

/* The data of a profile that has run; it borrows nothing. Looks up names: some 10 us for each different address. */
struct xc_profile_data *xc_profile_finish(struct xc_profile *profile);

/* What was counted since the start, or the last lap: sampling goes on. Waits that go on count as far as they got.
 * Threads that have slept since before the start are not in it. */
struct xc_profile_data *xc_profile_lap(struct xc_profile *profile);

#endif
