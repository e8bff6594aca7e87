/* glob: patterns in which '*' stands for anything and every other character for itself. */
#ifndef XC_GLOB_H
#define XC_GLOB_H

#include "core/base/base.h"

/* Does all of text match the first len bytes of pattern? O(len * length of the text), no recursion. */
bool xc_glob_matches(const char *pattern, size_t len, const char *text);

#endif
