/* taint: how a bad pointer could be exploited: does the value read through it reach a call or a write, or does the
 * pointer of a write come from other memory? */
#ifndef XC_TAINT_H
#define XC_TAINT_H

#include "triage/crash/crash_context.h"

/* The faulting instruction is a load whose value would be called, jumped to or written through within the next 64
 * bytes of straight-line code. *how_out: "is called", "is jumped to", "is written through". */
bool xc_taint_of_read(const struct xc_crash_context *crash, const char **how_out);

/* The faulting instruction writes through a register that the straight-line code before it loaded through another
 * pointer (other than the stack's). */
bool xc_taint_of_write(const struct xc_crash_context *crash);

#endif
