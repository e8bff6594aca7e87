/* profile_page: a profile as one self-contained page, with a script and without any network: flame graph, its
 * inversion, what is around a function, threads over time, search, tables. All is computed in the browser from the
 * tables in the page. */
#ifndef XC_PROFILE_PAGE_H
#define XC_PROFILE_PAGE_H

#include <stdio.h>

#include "profile/data/profile_data.h"

/* Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_profile_page(const struct xc_profile_data *data, FILE *out);

/* The same for two profiles in one: threads below `split` are of the first. */
XC_MUST_CHECK struct xc_error *xc_profile_page_of_two(const struct xc_profile_data *data, uint32_t split, FILE *out);

#endif
