/* checksummed_line: a line of JSON with a checksum, which shows that it is intact and has the expected purpose:
 *
 *	{"sum":"0123456789abcdef",…}
 *
 * The sum covers everything after it, and a text that only the reader knows. It detects damage; it is no protection. */
#ifndef XC_CHECKSUMMED_LINE_H
#define XC_CHECKSUMMED_LINE_H

#include <jansson.h>

/* Formats an object of at least one member as such a line, with its end; takes the object. Malloc'ed. */
char *xc_checksummed_line_format(json_t *object, const char *purpose);

/* The object in such a line (without its end); new; NULL if the line is invalid. */
json_t *xc_checksummed_line_parse(const char *line, size_t len, const char *purpose);

#endif
