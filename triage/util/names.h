/* names: lists of names of functions, as rules have them: NULL behind the last one. NULL for what is looked for is in none. */
#ifndef XC_NAMES_H
#define XC_NAMES_H

#include <stdbool.h>

/* The one that is the name; NULL when none is. */
const char *xc_names_find(const char *const *names, const char *name);

/* The first one that the name begins with; NULL when it begins with none. */
const char *xc_names_begin(const char *const *names, const char *name);

/* Does one stand somewhere in the text? */
bool xc_names_in(const char *const *names, const char *text);

#endif
