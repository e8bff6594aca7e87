/* stacks: frames that plugins add to the stacks of a command's target. */
#ifndef XC_CLI_STACKS_H
#define XC_CLI_STACKS_H

#include "cli/command.h"

/* Run every plugin that matches the target, once, each in its own child process. Backtraces then show the frames
 * that they report, and failures as notes. Does nothing with --no-plugins. */
void xc_job_stacks(struct xc_job *job);

#endif
