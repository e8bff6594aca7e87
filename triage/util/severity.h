/* severity: how exploitable a death is, in five steps. */
#ifndef XC_SEVERITY_H
#define XC_SEVERITY_H

/* 0 for "info" to 4 for "critical"; 0 for NULL and unknown names. */
unsigned xc_severity_rank(const char *severity);

/* The name of a rank; "critical" beyond the last one. */
const char *xc_severity_name(unsigned rank);

#endif
