/* rust_expression: what a failed unwrap() was called on, as the source writes it. */
#ifndef XC_RUST_EXPRESSION_H
#define XC_RUST_EXPRESSION_H

#include "triage/crash/crash_context.h"

/* For a panic of kind unwrap or expect at a line of a source that may be read: add the expression to the cause,
 * "`n.parent.upgrade()`". Literal texts in it are left out: `port(…)`. Nothing where the line has several such
 * calls. */
void xc_rust_expression_report(struct xc_crash_context *crash, const char *file, unsigned line);

#endif
