/* gosuspect: which of the variables of the blamed function, and of the members of what they lead to, is the nil or
 * closed one that a panic speaks of; and who else panics. Private to go*.c. */
#ifndef XC_GOSUSPECT_H
#define XC_GOSUSPECT_H

#include "triage/go/godeath.h"

/* For a verdict of the class panic, report as evidence:
 *
 *	of the kinds nil, nil map and channel: "`s.conn` is nil", for names that the source line has; where that line is
 *	not known, of the only one that the function's variables lead to;
 *	what the first two pointers lead to that it was passed;
 *	of the kind concurrent map: who else uses the map (gomap.h);
 *	other goroutines that panic.
 *
 * All as it was when the core was made: another goroutine may have replaced the value since. */
void xc_gosuspect_report(struct xc_godeath *d);

#endif
