/* gomap: who else uses the map of a fatal error "concurrent map …". Private to go*.c. */
#ifndef XC_GOMAP_H
#define XC_GOMAP_H

#include "triage/go/godeath.h"

/* Report as evidence, of at most three other goroutines: that one is in a function of the runtime that has the map, or
 * in one that writes to maps and has this one, as likely; its stack's functions of the program. Those that wait are
 * told only where there are no others. Says that it is missing when there is none. Where the map is not known: those
 * that are in the runtime's functions of maps. Looks at 2,000 goroutines, and at 32 frames of each. */
void xc_gomap_report(const struct xc_godeath *d);

#endif
