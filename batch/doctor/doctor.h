/* doctor: would a crash here leave a core, where, with what in it; and what to change. */
#ifndef XC_DOCTOR_H
#define XC_DOCTOR_H

#include "core/report/report.h"
#include "batch/doctor/doctor_facts.h"

/* Fill a report. ci: "github", "gitlab" or NULL: what the advice is for. */
void xc_doctor_report(struct xc_report *report, const struct xc_doctor_facts *facts, const char *ci);

#endif
