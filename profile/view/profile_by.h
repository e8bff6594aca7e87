/* profile_by: a profile told apart by a dimension: by the values that its samples have, or by thread. */
#ifndef XC_PROFILE_BY_H
#define XC_PROFILE_BY_H

#include "profile/data/profile_data.h"

/* Give each sum its value of the dimension `by`: "thread", "process", or the one that the data has values of. Errors:
 * XC_ERR_USAGE: the data lack this dimension; the hint lists the others. */
XC_MUST_CHECK struct xc_error *xc_profile_by(struct xc_profile_data *data, const char *by);

/* Make the value of each sum the outermost frame of its stack: so all views show the values side by side. Nothing may
 * be added to the data afterwards. O(frames of the stacks of all sums). */
void xc_profile_root(struct xc_profile_data *data);

#endif
