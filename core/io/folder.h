/* folder: a path below a folder, entered step by step: no step follows a link or leads upward. For paths that others
 * name, in folders that others may write. */
#ifndef XC_FOLDER_H
#define XC_FOLDER_H

#include <sys/types.h>

/* Go from an open folder into the one of that name, a single component; make: its mode if it is missing; 0: it is not
 * made. Closes `at`. The folder, or -1 with errno: ELOOP for "." and "..". */
int xc_folder_step(int at, const char *name, mode_t make);

#endif
