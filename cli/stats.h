/* stats: the cost of a run, for --stats. */
#ifndef XC_STATS_H
#define XC_STATS_H

#include "cli/command.h"

/* Fill the run section of the job's report. */
void xc_stats_add(struct xc_job *job);

#endif
