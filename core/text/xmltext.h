/* xmltext: names of the target in XML. */
#ifndef XC_XMLTEXT_H
#define XC_XMLTEXT_H

#include "core/base/text.h"

/* Add a string of the target, escaped as a name (text.h) and for XML 1.0, inside of elements and of attributes in double quotes. */
void xc_xmltext(struct xc_text *text, const char *name);

/* Does what a CI system obeys when it prints a page begin here: "##[error]" anywhere, "::error::" where `start`, or a line or word, begins? Such a
 * character is written by its number. */
bool xc_xmltext_is_command(const char *at, const char *start);

#endif
