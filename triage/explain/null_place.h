/* null_place: what holds the NULL that the program died of: a smart pointer that owns nothing, or an entry of a table
 * of the program. */
#ifndef XC_NULL_PLACE_H
#define XC_NULL_PLACE_H

#include "triage/crash/crash_context.h"

/* For classes of NULL: adds to the cause that a smart pointer is empty, and why one may be. For an array of structures
 * with a fixed place: evidence which element it is, its first text if that is a constant of the program, and how many
 * of the others have something there. Nothing where the way of the value is not known. */
void xc_null_place_report(struct xc_crash_context *crash);

#endif
