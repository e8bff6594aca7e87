/* profile_firefox: a profile for Firefox Profiler (profiler.firefox.com): threads over time, with lines, modules,
 * waits. */
#ifndef XC_PROFILE_FIREFOX_H
#define XC_PROFILE_FIREFOX_H

#include <stdio.h>

#include "profile/data/profile_data.h"

/* Errors: XC_ERR_IO. O(nodes of all threads' stacks + parts). */
XC_MUST_CHECK struct xc_error *xc_profile_firefox(const struct xc_profile_data *data, FILE *out);

#endif
