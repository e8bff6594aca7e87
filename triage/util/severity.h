/* severity: how bad it is what an attacker could make of a death, in five steps. */
#ifndef XC_SEVERITY_H
#define XC_SEVERITY_H

/* 0 for "info" to 4 for "critical"; 0 for NULL and what is none. */
unsigned xc_severity_rank(const char *severity);

/* Of a rank; beyond the last one it is "critical". */
const char *xc_severity_name(unsigned rank);

#endif
