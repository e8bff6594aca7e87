/* profile_formats: the formats that a profile is written in, besides the report. */
#ifndef XC_PROFILE_FORMATS_H
#define XC_PROFILE_FORMATS_H

#include <stdio.h>

#include "profile/data/profile_data.h"

/* Their names, NULL-terminated: those of xc_flame_kinds, "firefox", "html" (profile_page.h) and "xprof"
 * (profile_file.h). */
extern const char *const xc_profile_kinds[];

/* The one that the name of a file asks for by its end; NULL: none. */
const char *xc_profile_kind_of(const char *file);

bool xc_profile_is_binary(const char *kind);

/* kind: one of the names. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_profile_write(const struct xc_profile_data *data, const char *kind, FILE *out);

#endif
