/* wait_report: descriptions of waits: "waiting for mutex `queue->lock`, held by thread 17", "poll of 512
 * descriptors". */
#ifndef XC_WAIT_REPORT_H
#define XC_WAIT_REPORT_H

#include "core/report/report.h"
#include "triage/locks/lock.h"

/* Append the description; nothing when the thread does not wait, or the wait is not known. paths: include the
 * targets of descriptors. */
void xc_wait_report_describe(struct xc_process *process, const struct xc_wait *wait, bool paths, struct xc_text *text);

/* The same of a wait that was looked at by itself (xc_waits_look), as far as waits of this kind have in common: without
 * times and owners. Nothing when it is not known. */
void xc_wait_report_alone(struct xc_process *process, const struct xc_wait *wait, struct xc_text *text);

/* The address of the 32-bit word that has the id of the thread that holds the lock waited for, in its own pid
 * namespace, and 0 while nobody holds it. 0: there is no such word. */
xc_addr xc_wait_owner_word(const struct xc_process *process, const struct xc_wait *wait);

/* Add roles and descriptions to the stacks of a section, and one to each of its groups. */
void xc_wait_report_stacks(struct xc_section *section, struct xc_process *process);

/* Add a section "waits": a table of the waiting threads with role, wait and place. Nothing when no thread waits. */
void xc_wait_report_section(struct xc_report *report, struct xc_process *process);

#endif
