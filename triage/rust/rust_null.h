/* rust_null: a pointer that is NULL although safe Rust has none that is. */
#ifndef XC_RUST_NULL_H
#define XC_RUST_NULL_H

#include "triage/crash/crash_context.h"

/* For a death by a NULL pointer in a function of Rust, where the variable that led there is a reference, a Box or a
 * NonNull: the cause says that only unsafe code can have made it so. Call it when the expression is known. */
void xc_rust_null_report(struct xc_crash_context *crash);

#endif
