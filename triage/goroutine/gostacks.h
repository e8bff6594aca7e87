/* gostacks: the stacks of a Go program's goroutines that are on no thread. */
#ifndef XC_GOSTACKS_H
#define XC_GOSTACKS_H

#include "dwarf/stack/backtrace.h"

/* The program's own goroutines, without those that the runtime started for itself: named "goroutine 7", in the state
 * "waits for a sync.Mutex", in the order of the runtime's list. At most `most` of them, in the report's arena;
 * *more_out is the number of the others. None when the program is none of Go's. Takes some 0.1 ms each. */
size_t xc_gostacks(struct xc_report *report, struct xc_process *process, size_t most, struct xc_parked_stack **out,
		   uint64_t *more_out);

#endif
