/* checkpoint_dir: the directory of checkpoints: one for each set of inputs and settings, side by side, so that a run with another option takes
 * nothing from those before it. One that nobody used for a month is removed. */
#ifndef XC_CHECKPOINT_DIR_H
#define XC_CHECKPOINT_DIR_H

#include "core/base/error.h"

enum { XC_CHECKPOINT_DIR_DAYS = 30 };

/* What the checkpoint of these inputs and settings is called; both are hashes in hex of 32 digits or more. Malloc'ed. */
char *xc_checkpoint_dir_file(const char *dir, const char *inputs, const char *config);

/* Open that file (mode 0600, parents are made), or make it empty, and lock it for as long as it is open. Errors: XC_ERR_IO and others of
 * opening, XC_ERR_LIMIT when another run has it; there may be a descriptor then. */
XC_MUST_CHECK struct xc_error *xc_checkpoint_dir_open(const char *path, int *fd_out);

/* Remove checkpoints that were not opened for XC_CHECKPOINT_DIR_DAYS before `now` (seconds since the epoch): files that are called as above, or as
 * checkpoints were before, and begin as checkpoints do; but none that a run has open. Never fails: what cannot be removed stays. Cost: a stat for
 * each. */
void xc_checkpoint_dir_clean(const char *dir, int64_t now);

#endif
