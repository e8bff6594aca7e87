/* textfile: a text file named by the user: a list, a journal, a part. */
#ifndef XC_TEXTFILE_H
#define XC_TEXTFILE_H

#include <stdio.h>

#include "core/base/error.h"

/* Opens a regular file without blocking; "-" is standard input, of any type. Errors: those of opening;
 * XC_ERR_UNSUPPORTED for a FIFO, a socket or a device, which may never end. */
XC_MUST_CHECK struct xc_error *xc_textfile_open(const char *path, FILE **file_out);

/* Does not close standard input, which is not ours; NULL is fine. */
void xc_textfile_close(FILE *file);

/* The file's name in messages. */
const char *xc_textfile_name(const char *path);

#endif
