/* doctor: whether a crash here leaves a core, where, and with what content; and what to change. */
#ifndef XC_DOCTOR_H
#define XC_DOCTOR_H

#include "core/report/report.h"
#include "batch/doctor/doctor_facts.h"

/* Fills the report. ci: "github", "gitlab" or NULL: the system for which advice is given. */
void xc_doctor_report(struct xc_report *report, const struct xc_doctor_facts *facts, const char *ci);

#endif
