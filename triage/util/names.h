/* names: lists of function names in rules; NULL ends a list. A NULL name is in no list. */
#ifndef XC_NAMES_H
#define XC_NAMES_H

#include <stdbool.h>

/* The entry that equals the name; NULL when there is none. */
const char *xc_names_find(const char *const *names, const char *name);

/* The first entry that is a prefix of the name; NULL when there is none. */
const char *xc_names_begin(const char *const *names, const char *name);

enum { XC_NAMES_WORD = 32 };

/* The next word of a name, in lower case, cut to fit: "check", then "failed", of "CheckFailed2" and "check_failed".
 * *at moves past it. False when there is none. */
bool xc_names_next_word(const char **at, char word[XC_NAMES_WORD]);

/* Does the text contain an entry? */
bool xc_names_in(const char *const *names, const char *text);

#endif
