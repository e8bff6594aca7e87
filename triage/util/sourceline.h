/* sourceline: a source position in words: "main.c:88". */
#ifndef XC_SOURCELINE_H
#define XC_SOURCELINE_H

#include "core/base/text.h"
#include "dwarf/symbolize/debuginfo.h"

/* Append `before`, the base name of the file, and the line of a level of the place. False, with nothing appended,
 * when it is not known. */
bool xc_sourceline(const struct xc_place *place, size_t level, const char *before, struct xc_text *text);

#endif
