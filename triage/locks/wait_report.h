/* wait_report: what threads wait for, in a phrase: "waiting for mutex `crash->lock`, held by thread 17", "poll of 512 descriptors". */
#ifndef XC_WAIT_REPORT_H
#define XC_WAIT_REPORT_H

#include "core/report/report.h"
#include "triage/locks/lock.h"

/* Append it; nothing when the thread does not wait, or that is not known. paths: with what descriptors lead to. */
void xc_wait_report_describe(struct xc_process *process, const struct xc_wait *wait, bool paths, struct xc_text *text);

/* Give the stacks that the section shows their roles and phrases, and its groups one each. */
void xc_wait_report_stacks(struct xc_section *section, struct xc_process *process);

/* A section "waits", a table of the threads that wait: role, what for, where. Nothing when none does. */
void xc_wait_report_section(struct xc_report *report, struct xc_process *process);

#endif
