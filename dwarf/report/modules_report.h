/* modules_report: for each module, its file and debug information, or why they are missing and how to get them. */
#ifndef XC_MODULES_REPORT_H
#define XC_MODULES_REPORT_H

#include "core/process/process.h"
#include "core/report/report.h"

/* A section `modules` with a table of all modules, and a hint for each problem. Searches the debug files of every
 * module; a file is read only as far as needed to verify it. */
void xc_modules_report(struct xc_report *report, struct xc_process *process);

/* The same section with only the modules that have a problem; a line of text when none has. */
void xc_modules_report_problems(struct xc_report *report, struct xc_process *process);

#endif
