/* planted: something that another user put at a path in a folder that all may write.
 *
 * The rules of Linux's fs.protected_symlinks, protected_fifos and protected_regular (Documentation/admin-guide/sysctl/
 * fs.rst), which hosts may have turned off: a link or a FIFO of another user is not followed or opened there, and a
 * file or folder of another user is not used where the folder is sticky. */
#ifndef XC_PLANTED_H
#define XC_PLANTED_H

#include "core/base/error.h"

/* NULL: what is at path, and each link on the way from there, is no planted one. Errors: XC_ERR_PERMISSION names the
 * path and the owner; XC_ERR_NOT_FOUND: nothing is there. To be proof against a race, ask after the path was resolved:
 * what passes here cannot be replaced by another user of a sticky folder. */
XC_MUST_CHECK struct xc_error *xc_planted_check(const char *path);

#endif
