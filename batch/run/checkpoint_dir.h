/* checkpoint_dir: the directory of checkpoints. Each set of inputs and settings has its own, so a run with another
 * option removes nothing. Checkpoints unused for a month are removed. */
#ifndef XC_CHECKPOINT_DIR_H
#define XC_CHECKPOINT_DIR_H

#include "core/base/error.h"

enum { XC_CHECKPOINT_DIR_DAYS = 30 };

/* The name of the checkpoint for these inputs and settings; both are hashes in hex of 32 digits or more. Malloc'ed. */
char *xc_checkpoint_dir_file(const char *dir, const char *inputs, const char *config);

/* Opens that file (mode 0600, with parent directories) or creates it empty, and locks it while it is open. Errors:
 * XC_ERR_IO and others of opening, XC_ERR_LIMIT if another run has it, XC_ERR_UNSUPPORTED if the file is no checkpoint
 * of this user's alone (a link, a FIFO, a second name, other content): it stays as it is. The folder is opened as
 * cachedir.h says. *fd_out may be valid even then. */
XC_MUST_CHECK struct xc_error *xc_checkpoint_dir_open(const char *path, int *fd_out);

/* Removes checkpoints that were not opened for XC_CHECKPOINT_DIR_DAYS before `now` (seconds since the epoch): files
 * that have such a name, or the earlier form of it, and begin like a checkpoint; never one that a run has open. Never
 * fails: what cannot be removed stays. Cost: one stat per file. */
void xc_checkpoint_dir_clean(const char *dir, int64_t now);

#endif
