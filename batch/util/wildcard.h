/* wildcard: expands `*`, `?` and `[…]` in file names, as a shell does, for names that the shell did not expand (quoted,
 * in a list, in a job file). A leading dot must be in the pattern; a backslash is an ordinary character. */
#ifndef XC_WILDCARD_H
#define XC_WILDCARD_H

#include "batch/util/namelist.h"

#define XC_WILDCARD_NOTHING "no file's name fits this pattern"

struct xc_wildcard_visitor {
	void *user;
	/* A directory that may contain matches and cannot be searched. */
	void (*left_out)(void *user, const char *directory, const char *why);
};

/* Does the name contain wildcards? Also true if a file has this very name. */
bool xc_wildcard_is(const char *name);

/* Adds the matching names in no particular order, or the pattern itself if a file has that name; *found_out: there is a
 * match. A component also matches a file with its literal name. Symbolic links are followed, and whoever can write to a
 * directory controls what matches there: so a match does not count as named by the user. Errors: those of
 * xc_namelist_add. */
XC_MUST_CHECK struct xc_error *xc_wildcard_expand(const char *pattern, const struct xc_wildcard_visitor *visitor,
						  struct xc_namelist *list, bool *found_out);

#endif
