/* export_worst: what follows the table of clusters: the worst cluster in full, unreadable cores, and suggested
 * commands. */
#ifndef XC_EXPORT_WORST_H
#define XC_EXPORT_WORST_H

#include "core/render/paint.h"
#include "batch/export/export.h"

void xc_export_worst(struct xc_paint *paint, const struct xc_problems *problems,
		     const struct xc_export_options *options);

#endif
