/* rust_consequence: a panic that another one led to: unwrap() or expect() of what a lock that is poisoned gave, or of
 * what a thread that panicked left for the one that joins it. */
#ifndef XC_RUST_CONSEQUENCE_H
#define XC_RUST_CONSEQUENCE_H

#include "triage/crash/crash_context.h"

/* For a panic of a destructor while another panic unwinds: the cause says so (likely: by the count of panics), and
 * evidence of the first one (rust_earlier.h). For a panic of the kinds unwrap and expect: the cause says that the lock
 * is poisoned, or that the thread had panicked; evidence: the lock, its mark, what it protects; the message of the
 * thread's panic; traces of the panic that came first (rust_earlier.h). Call it when the place of the panic is known
 * (rust_location.h). Nothing for an Err of another type. */
void xc_rust_consequence_report(struct xc_crash_context *crash);

#endif
