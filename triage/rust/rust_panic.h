/* rust_panic: Rust programs that panicked, or failed to allocate memory. */
#ifndef XC_RUST_PANIC_H
#define XC_RUST_PANIC_H

#include "triage/crash/crash_context.h"

/* Class panic, its kind by the functions that led to it ("unwrap", "expect", "index", "slice", "overflow", "division
 * by zero", "assert", "borrow", "unreachable", "no unwind", "double panic", "misaligned pointer", "null
 * pointer", "invalid enum", "unsafe precondition", "explicit"), or out-of-memory. False when no panic is on the
 * stack. */
bool xc_rust_panic_classify(struct xc_crash_context *crash);

#endif
