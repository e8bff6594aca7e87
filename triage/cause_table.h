/* cause_table: all causes of death, in the order in which they are tried. */
#ifndef XC_CAUSE_TABLE_H
#define XC_CAUSE_TABLE_H

#include "triage/crash/cause_rule.h"

/* The last entry has no function. */
extern const struct xc_cause_rule xc_cause_table[];

#endif
