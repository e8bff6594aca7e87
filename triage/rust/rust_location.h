/* rust_location: where a Rust program itself says that it panicked. */
#ifndef XC_RUST_LOCATION_H
#define XC_RUST_LOCATION_H

#include "triage/crash/crash_context.h"

/* Evidence: file, line and column that every panic is passed. Sets crash->stated_file and stated_line. Blames the
 * function at that line where a function with #[track_caller] was blamed. The crash must be a panic whose blame is set.
 * Nothing when the argument is not known. */
void xc_rust_location_report(struct xc_crash_context *crash);

#endif
