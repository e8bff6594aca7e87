/* failed_index: the index that a language's own check has refused: what the source calls it, and its origin. */
#ifndef XC_FAILED_INDEX_H
#define XC_FAILED_INDEX_H

#include "triage/crash/crash_context.h"

/* For a panic of Go or Rust by an index or a bound of a slice, and an std::out_of_range of C++'s library: add evidence,
 * "the index is `at`, passed by main.replay() at replay.go:88", "`o.slot`, read at 0x5581…", "what was returned by
 * parse()". Calls of the library between the program and the check only pass it on. Of a map of C++: the key that it
 * does not have. Nothing where the code before the check does not show one variable, or has it without a name of the
 * program. x86-64 only. */
void xc_failed_index_report(struct xc_crash_context *crash);

#endif
