/* glob: patterns in which '*' matches anything and every other character matches itself. */
#ifndef XC_GLOB_H
#define XC_GLOB_H

#include "core/base/base.h"

/* Does the whole text match the first len bytes of the pattern? O(len * length of the text), no recursion. */
bool xc_glob_matches(const char *pattern, size_t len, const char *text);

#endif
