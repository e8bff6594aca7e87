/* xmltext: strings of the target in XML and HTML. */
#ifndef XC_XMLTEXT_H
#define XC_XMLTEXT_H

#include "core/base/text.h"

/* Add a string of the target, escaped as a name (text.h) and for XML 1.0: for elements, and for attributes in double
 * quotes. */
void xc_xmltext(struct xc_text *text, const char *name);

/* Does a command begin here that a CI system would execute when it prints the page: "##[error]" anywhere, "::error::"
 * at `start` or at the beginning of a line or word? The character is then written as a character reference. */
bool xc_xmltext_is_command(const char *at, const char *start);

#endif
