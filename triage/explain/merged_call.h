/* merged_call: of several calls alike that do not return, an optimizer makes one; its line is that of any of them. */
#ifndef XC_MERGED_CALL_H
#define XC_MERGED_CALL_H

#include "triage/crash/crash_context.h"

/* For a program that ended itself, by abort(), a trap or a function that does not return: where branches before and
 * behind the verdict's line lead to the blamed call, evidence and cause name their lines, and the verdict is no longer
 * certain. Call it when the verdict has its line. Nothing where the code is not decoded. */
void xc_merged_call_report(struct xc_crash_context *crash);

#endif
