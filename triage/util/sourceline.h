/* sourceline: where something is in the source, in words: "main.c:88". */
#ifndef XC_SOURCELINE_H
#define XC_SOURCELINE_H

#include "core/base/text.h"
#include "dwarf/symbolize/debuginfo.h"

/* Append `before` and the file's name, without folders, and the line of a level of the place; nothing, and false, when that is not known. */
bool xc_sourceline(const struct xc_place *place, size_t level, const char *before, struct xc_text *text);

#endif
