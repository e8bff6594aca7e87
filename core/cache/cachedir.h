/* cachedir: the folders of the caches, opened so that no other user can lead xcore elsewhere.
 *
 * A folder DIR/KIND, with DIR = PARENT/xcore: PARENT is the user's choice, so links to it are followed; DIR and KIND
 * are opened one from the other and may be no links. All three must belong to this user or root, and be writable by
 * their owner only, or be sticky, so that nobody else can rename or remove what is ours in it (/tmp). PARENT may also
 * be writable by this process's group: what another puts there does not belong to this user.
 * A folder that is not so is not used: nothing is read there, written or removed. */
#ifndef XC_CACHEDIR_H
#define XC_CACHEDIR_H

#include <sys/stat.h>

#include "core/base/base.h"
#include "core/cache/keyed_hash.h"

/* Open DIR/KIND, or DIR where kind is NULL. make: create what is missing, mode 0700. -1 with errno set: ENOENT: it is
 * missing; ELOOP or ENOTDIR: a link, or no folder; EACCES: it is not ours alone. */
int xc_cachedir_open(const char *dir, const char *kind, bool make);

/* Why the caches in dir cannot be trusted, as "PATH: REASON", malloc'ed; NULL when they can, or when there are none
 * yet. Looks at dir and at the folders of all kinds. */
char *xc_cachedir_trouble(const char *dir);

/* Is this a regular file with one name, which belongs to this user or root and to which no other may write? Also of a
 * file whose name is gone. */
bool xc_cachedir_is_own_file(int fd);

/* Is this a regular file with one name, of this user, whoever may write to it? */
bool xc_cachedir_is_my_file(const struct stat *st);

/* The secret of the caches in dir, which keyed_hash.h takes: a file of random bytes, mode 0600; made when it is
 * missing and `make` is set. False when there is none that only this user can read, and behind an opener (opener.h):
 * a process that reads hostile files is not told it. */
bool xc_cachedir_secret(const char *dir, bool make, uint8_t secret[XC_KEYED_HASH_SECRET]);

#endif
