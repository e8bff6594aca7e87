/* profile_finish: what was sampled, as data: all places named, stacks by function and line, sums, the account. */
#ifndef XC_PROFILE_FINISH_H
#define XC_PROFILE_FINISH_H

#include "profile/data/profile_data.h"
#include "profile/profile.h"

/* The data of a profile that has run; it borrows nothing. Looks up names: some 10 us for each different address. */
struct xc_profile_data *xc_profile_finish(struct xc_profile *profile);

#endif
