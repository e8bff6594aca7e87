/* export_sarif_stacks: the stacks of a cluster that is shown as objects of SARIF. All are new.
 *
 * Of a cluster 64 frames are told; where they are of several threads, each has as many of these, its innermost ones. */
#ifndef XC_EXPORT_SARIF_STACKS_H
#define XC_EXPORT_SARIF_STACKS_H

#include <jansson.h>

#include "batch/export/export_cluster.h"

/* An array: a stack for each thread, innermost frame first. Its message says the core, and which thread where it is not the one that died. */
json_t *xc_sarif_stacks(const struct xc_export_cluster *cluster, const struct xc_export_options *options);

/* The frames that count and have a place in the repository, of each thread a path from the outermost one to where it died or waits; NULL where
 * there are fewer than two. */
json_t *xc_sarif_flow(const struct xc_export_cluster *cluster, const struct xc_export_options *options);

#endif
