/* stacks: what a command does for the stacks of its target, before they are shown. */
#ifndef XC_CLI_STACKS_H
#define XC_CLI_STACKS_H

#include "cli/command.h"

/* Run every plugin that matches the target, once, each in its own child process. Backtraces then show the frames
 * that they report, and failures as notes. `detached`: stacks on no thread are shown, so plugins may search for them.
 * Does nothing with --no-plugins. */
void xc_job_stacks(struct xc_job *job, bool detached);

/* The `opened` of commands that show stacks: takes a sample of each running thread (running_threads.h). Never fails. */
struct xc_error *xc_job_sample_running(struct xc_job *job);

#endif
