/* rust_poison: locks of Rust that a panic has poisoned. */
#ifndef XC_RUST_POISON_H
#define XC_RUST_POISON_H

#include "triage/crash/crash_context.h"

/* For a panic or an abort of a Rust program: report a Mutex or RwLock that the crashed functions work on, and that a
 * thread held when it panicked, as likely: what a variable holds before it is set is anything. At most two. */
void xc_rust_poison_report(struct xc_crash_context *crash);

#endif
