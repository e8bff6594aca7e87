/* profile_file: a profile's data as a file (.xprof), docs/formats.md.
 *
 *	zstd skippable frame: "XCOREPRF", version ─→ one zstd frame: tables, each a tag, a length, columns of numbers
 *
 * Such a file may come from anybody: what is read is bounded and checked before it becomes data. */
#ifndef XC_PROFILE_FILE_H
#define XC_PROFILE_FILE_H

#include <stdio.h>

#include "profile/data/profile_data.h"

/* Is there a regular file at `path` that begins as such files do? False also when it cannot be read. */
bool xc_profile_file_is(const char *path);

/* Errors: XC_ERR_IO. Equal data gives equal bytes. */
XC_MUST_CHECK struct xc_error *xc_profile_file_write(const struct xc_profile_data *data, FILE *out);

/* Read all of it. Errors: those of xc_source_open; XC_ERR_FORMAT, malformed or cut; XC_ERR_UNSUPPORTED, of a later
 * version; XC_ERR_LIMIT, larger than any profile that xcore makes. All name the path. */
XC_MUST_CHECK struct xc_error *xc_profile_file_read(const char *path, struct xc_profile_data **data_out);

/* The tables alone, without the compression around them: what the file inflates to. */
struct xc_text;
void xc_profile_file_pack(const struct xc_profile_data *data, struct xc_text *bytes);
XC_MUST_CHECK struct xc_error *xc_profile_file_unpack(const void *bytes, size_t len, struct xc_profile_data **data_out);

#endif
