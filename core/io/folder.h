/* folder: folders that are made and entered where others may write. */
#ifndef XC_FOLDER_H
#define XC_FOLDER_H

#include <sys/types.h>

#include "core/base/error.h"

/* Make a folder that the user names, or take the one that is there, unless another user planted it (planted.h). Its
 * parents must exist. Errors: XC_ERR_PERMISSION, XC_ERR_NOT_FOUND, XC_ERR_IO with the path. */
XC_MUST_CHECK struct xc_error *xc_folder_make(const char *path, mode_t mode);

/* A step on a path that others name: it follows no link and does not lead upward. Go from an open folder into the one
 * of that name, a single component; make: its mode if it is missing; 0: it is not made. Closes `at`. The folder, opened
 * with O_PATH, or -1 with errno: ELOOP for "." and "..". */
int xc_folder_step(int at, const char *name, mode_t make);

#endif
