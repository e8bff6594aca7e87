/* textfile: a file of text that the user names: a list, a journal, a part. */
#ifndef XC_TEXTFILE_H
#define XC_TEXTFILE_H

#include <stdio.h>

#include "core/base/error.h"

/* Open a regular file, without waiting for anybody; "-" is standard input, whatever that is. Errors: those of opening,
 * XC_ERR_UNSUPPORTED for a FIFO, a socket or a device: nobody knows whether they end. */
XC_MUST_CHECK struct xc_error *xc_textfile_open(const char *path, FILE **file_out);

/* Not standard input, which is not ours; NULL is fine. */
void xc_textfile_close(FILE *file);

/* What messages call it. */
const char *xc_textfile_name(const char *path);

#endif
