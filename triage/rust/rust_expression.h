/* rust_expression: what a failed unwrap() was called on, as the source writes it. */
#ifndef XC_RUST_EXPRESSION_H
#define XC_RUST_EXPRESSION_H

#include "triage/crash/crash_context.h"

/* The expression that unwrap() or expect() is called on at a line of a source that may be read, with those before it
 * that it begins on: `n.parent.upgrade()`, in the report's arena. Literal texts in it are left out: `port(…)`. NULL
 * where the line has several such calls, or none. `file` may be NULL. */
const char *xc_rust_expression_of(const struct xc_crash_context *crash, const char *file, unsigned line);

/* For a panic of kind unwrap or expect: add that expression to the cause. */
void xc_rust_expression_report(struct xc_crash_context *crash, const char *file, unsigned line);

#endif
