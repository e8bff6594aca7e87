/* cacheform: which files of the caches are xcore's own: only these are read, listed and removed.
 *
 * A file of xcore has a name of exactly the form that its kind has, and holds the mark of that kind. A file whose
 * writer was killed has a temporary name ("NAME-PID.part", NAME cut to 16 bytes) and holds zeros where its mark will
 * be. */
#ifndef XC_CACHEFORM_H
#define XC_CACHEFORM_H

#include "core/base/base.h"

/* The kinds, NULL at the end. */
extern const char *const xc_cacheform_kinds[];

/* Is this a name of a file of that kind? xc_cacheform_is_ours: or of one that is being written. */
bool xc_cacheform_is_name(const char *kind, const char *name);
bool xc_cacheform_is_ours(const char *kind, const char *name);

/* Open a file of xcore in a folder (xc_cachedir_open) with these flags and O_NOFOLLOW, O_NONBLOCK and O_CLOEXEC. -1
 * with errno set when there is none: also when its name, owner, mode or mark shows that it is not xcore's own. */
int xc_cacheform_open(int folder, const char *kind, const char *name, int flags);

/* May a new file take this name? Nothing has it, or a file of xcore, also one that was cut off. */
bool xc_cacheform_is_free(int folder, const char *kind, const char *name);

/* Remove a file of xcore, a temporary one too; nothing else. True when it no longer exists. */
bool xc_cacheform_remove(int folder, const char *kind, const char *name);

#endif
