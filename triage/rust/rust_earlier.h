/* rust_earlier: traces of panics that came before the one that ended a program of Rust. */
#ifndef XC_RUST_EARLIER_H
#define XC_RUST_EARLIER_H

#include "triage/crash/crash_context.h"

/* Evidence, at most a few of each: texts of the heap, also of freed blocks, that are likely the message of an earlier
 * panic, as std words it (index out of bounds, unwrap(), overflow …), or the payload of a panic that was caught or
 * not joined (a Box<dyn Any> with a text); other threads that are in a panic now. Not what has the message of the panic
 * itself, or that of another consequence of a poisoned lock. Looks at 64 MiB of the heap and 64 threads at most. */
void xc_rust_earlier_report(struct xc_crash_context *crash);

#endif
