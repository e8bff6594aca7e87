/* scrub_learn: collects words to redact from the environment of a process. */
#ifndef XC_SCRUB_LEARN_H
#define XC_SCRUB_LEARN_H

#include "core/process/process.h"
#include "core/report/scrub.h"

/* Read the initial environment from the stack, if it is available, and add: values of variables with secret names,
 * HOME, HOSTNAME, and the user's name if the process ran as a person (uid 1000 or above). The user name of a service is
 * that of its program, so it is not added; nor is one that occurs in the name of the program. */
void xc_scrub_learn(struct xc_scrub *scrub, const struct xc_process *process);

#endif
