/* gotypednil: an interface that holds a nil pointer: it has a type, and so is not nil itself. */
#ifndef XC_GOTYPEDNIL_H
#define XC_GOTYPEDNIL_H

#include "triage/go/godeath.h"

/* Of a nil dereference in a method of a pointer type: report the variable of a caller that is an interface with a nil
 * pointer of that type. When the callers' variables are not known, but the method was called indirectly, report that as
 * a possibility. Looks at 6 callers. */
void xc_gotypednil_report(const struct xc_godeath *d);

#endif
