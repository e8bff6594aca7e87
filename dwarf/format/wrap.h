/* wrap: the text of a value over several lines, where one would be too long to read. */
#ifndef XC_WRAP_H
#define XC_WRAP_H

#include "core/base/text.h"

/* Append the text of a value as format.h writes it, so that lines stay within `width` columns where they can: what stands in
 * braces goes on lines of its own, members one a line, plain elements as many as fit. Only white space is added, and only where
 * a comma or a brace parts two things; what fits in a line, and what is not balanced, stays as it is. `column` is where the text
 * begins. O(n) for each level of braces. */
void xc_wrap(struct xc_text *text, const char *value, size_t len, unsigned column, unsigned width);

#endif
