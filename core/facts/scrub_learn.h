/* scrub_learn: the words that a process itself says are its user's. */
#ifndef XC_SCRUB_LEARN_H
#define XC_SCRUB_LEARN_H

#include "core/process/process.h"
#include "core/report/scrub.h"

/* From the environment that the process was started with, where its stack is there: the values of variables whose names speak of secrets,
 * HOME, HOSTNAME, and the user's name where the process ran as a person (uid 1000 and more: that of a service names its program, and so does
 * one that stands in the program's name). */
void xc_scrub_learn(struct xc_scrub *scrub, const struct xc_process *process);

#endif
