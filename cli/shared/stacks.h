/* stacks: what plugins know of the stacks of a command's target. */
#ifndef XC_CLI_STACKS_H
#define XC_CLI_STACKS_H

#include "cli/command.h"

/* Ask every plugin that is for the target, each in a child of its own, once; backtraces then show what they told, and as notes who
 * failed. Does nothing with --no-plugins. */
void xc_job_stacks(struct xc_job *job);

#endif
