/* profile_pprof: a profile for pprof: samples and time or events, with lines, modules, threads, waits and values of
 * the dimension. */
#ifndef XC_PROFILE_PPROF_H
#define XC_PROFILE_PPROF_H

#include <stdio.h>

#include "profile/data/profile_data.h"

/* Errors: XC_ERR_IO, XC_ERR_LIMIT. */
XC_MUST_CHECK struct xc_error *xc_profile_pprof(const struct xc_profile_data *data, FILE *out);

#endif
