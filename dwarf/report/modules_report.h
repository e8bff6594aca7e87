/* modules_report: per module what was found of it: file, debug information, and why not, with what to do. */
#ifndef XC_MODULES_REPORT_H
#define XC_MODULES_REPORT_H

#include "core/process/process.h"
#include "core/report/report.h"

/* A section `modules` with a table of all of them, and a hint per problem. Looks for debug files of every module;
 * none is read further than needed to tell that it serves. */
void xc_modules_report(struct xc_report *report, struct xc_process *process);

/* The same section, with the modules only that have a problem; a line when there is none. */
void xc_modules_report_problems(struct xc_report *report, struct xc_process *process);

#endif
