/* planted: something that another user put on a path in a world-writable directory.
 *
 * The rules of Linux's fs.protected_symlinks, protected_fifos and protected_regular (Documentation/admin-guide/sysctl/
 * fs.rst), which hosts may have turned off: a link or a FIFO of another user is not followed or opened there, and a
 * file or directory of another user at the path's end is not used where its directory is sticky. */
#ifndef XC_PLANTED_H
#define XC_PLANTED_H

#include "core/base/error.h"

/* NULL: neither a link on the way nor what is at the path is a planted one. What a descriptor of this process has open
 * (/dev/fd/3) never is. Errors: XC_ERR_PERMISSION names the place and the owner; XC_ERR_NOT_FOUND: nothing planted is
 * on the way, but nothing is at the path. To be proof against a race, ask after the path was resolved: what passes here
 * cannot be replaced by another user of a sticky directory. */
XC_MUST_CHECK struct xc_error *xc_planted_check(const char *path);

#endif
