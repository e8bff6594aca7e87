/* arguments: the command line of a process. */
#ifndef XC_ARGUMENTS_H
#define XC_ARGUMENTS_H

#include "core/process/process.h"

/* The arguments, separated by spaces; NULL: not known. A core's note has 79 bytes of them (Linux ELF_PRARGSZ); the rest
 * is read from the stack, at most 16 KiB. "…" follows where there is more, or is more but not in the core. What the
 * program wrote there instead (setproctitle) is shown as it is. Malloc'ed. */
char *xc_arguments(const struct xc_process *process);

#endif
