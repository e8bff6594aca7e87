/* checksummed_line: a line of JSON that shows whether it is as it was written, and for the same purpose:
 *
 *	{"sum":"0123456789abcdef",…}
 *
 * The sum is of all behind it and of a text that only its reader knows. It finds damage; it keeps nobody out. */
#ifndef XC_CHECKSUMMED_LINE_H
#define XC_CHECKSUMMED_LINE_H

#include <jansson.h>

/* An object of one member or more as such a line, with its end; takes it. Malloc'ed. */
char *xc_checksummed_line_format(json_t *object, const char *purpose);

/* The object that such a line is of, without its end; new; NULL when it is none. */
json_t *xc_checksummed_line_parse(const char *line, size_t len, const char *purpose);

#endif
