/* wildcard: a name with `*`, `?` or `[…]` as the names of the files that fit it, as a shell writes them: for names that no shell has seen
 * (quoted, in a list, in a job file). No name begins with a dot that the pattern does not have; a backslash is a backslash. */
#ifndef XC_WILDCARD_H
#define XC_WILDCARD_H

#include "batch/util/namelist.h"

#define XC_WILDCARD_NOTHING "no file's name fits this pattern"

struct xc_wildcard_visitor {
	void *user;
	/* A directory that may hold some, and cannot be searched. */
	void (*left_out)(void *user, const char *directory, const char *why);
};

/* Has it wildcards? Also when a file is called that. */
bool xc_wildcard_is(const char *name);

/* Add the names that fit, in no order, or only the pattern where a file is called that; *found_out says whether there are any. A component
 * also fits a file that is called as it is written. Symbolic links are followed, and who may write to a directory decides what fits there:
 * nothing that is found is a name that the user wrote. Errors: those of xc_namelist_add. */
XC_MUST_CHECK struct xc_error *xc_wildcard_expand(const char *pattern, const struct xc_wildcard_visitor *visitor,
						  struct xc_namelist *list, bool *found_out);

#endif
