/* arguments: the command line of a process. */
#ifndef XC_ARGUMENTS_H
#define XC_ARGUMENTS_H

#include "core/process/process.h"

/* The arguments, separated by spaces; NULL: not known. A core's note has 79 bytes of them (Linux ELF_PRARGSZ); the rest
 * is read from the stack. "…" follows where there was more that is not in the core, or more than 16 KiB. Malloc'ed. */
char *xc_arguments(const struct xc_process *process);

#endif
