/* goclosed: the channel that was closed before it was sent to, or closed again: its state, the object that has it, and
 * who closes it. Private to go*.c. */
#ifndef XC_GOCLOSED_H
#define XC_GOCLOSED_H

#include "triage/go/godeath.h"

/* For a panic of the kind channel. `line`: the source line of the blamed function; NULL: not known. `named`: a variable
 * leads to the channel by the name that the line has. The cause gets the name of the channel, `s.out`. Evidence:
 *
 *  that it is closed, and how many items it holds;
 *  where no variable leads there any more: the only object of the heap that has it as this member (likely);
 *  where the program closes a channel of this name: "`close(s.out)` stands in main.(*Hub).kick, main.go:136"; without
 *  sources, one at the same offset (perhaps);
 *  which other goroutines are in such a function, or in one that calls it.
 *
 * Reads the program's code once or twice, at most 128 MiB of it, and the stacks of 500 goroutines. */
void xc_goclosed_report(struct xc_godeath *d, const char *line, bool named);

#endif
