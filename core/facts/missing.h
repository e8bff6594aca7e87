/* missing: reports the missing parts of the target, and the sources of the rest of its memory. */
#ifndef XC_MISSING_H
#define XC_MISSING_H

#include "core/process/process.h"
#include "core/report/report.h"

/* A section `missing`: bytes by provenance, a cut file, and remarks on damage. */
void xc_missing_report(struct xc_report *report, const struct xc_process *process);

#endif
