/* export_sarif_stacks: the stacks of a cluster's representative as objects of SARIF. All are new.
 *
 * A cluster has up to 64 frames; several threads share them equally, with their innermost frames. */
#ifndef XC_EXPORT_SARIF_STACKS_H
#define XC_EXPORT_SARIF_STACKS_H

#include <jansson.h>

#include "batch/export/export_cluster.h"

/* An array with a stack for each thread, innermost frame first. The message names the core, and the thread if it is not
 * the crashed one. */
json_t *xc_sarif_stacks(const struct xc_export_cluster *cluster, const struct xc_export_options *options);

/* The frames that count and have a location in the repository: for each thread, the path from the outermost one to
 * where it crashed or waits. NULL if there are fewer than two. */
json_t *xc_sarif_flow(const struct xc_export_cluster *cluster, const struct xc_export_options *options);

#endif
