/* wrap: the text of a value in several lines, when one line would be too long. */
#ifndef XC_WRAP_H
#define XC_WRAP_H

#include "core/base/text.h"

/* Append a value's text in the format of format.h, with lines of at most `width` columns if possible. The contents of
 * braces are on lines of their own: one named member a line, plain elements as many as fit. Only white space is added,
 * after a comma or at a brace. Text that fits in a line, or has unbalanced brackets, is unchanged. `column` is the
 * column where the text starts. O(n) for each level of braces. */
void xc_wrap(struct xc_text *text, const char *value, size_t len, unsigned column, unsigned width);

#endif
