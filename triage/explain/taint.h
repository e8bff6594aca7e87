/* taint: what a bad pointer could do: does what was read through it lead to a call or a write, or does the pointer of a write come out of
 * other memory? */
#ifndef XC_TAINT_H
#define XC_TAINT_H

#include "triage/crash/crash_context.h"

/* The faulting instruction is a load whose value would, within the next 64 bytes of straight code, be called, jumped to or written
 * through. *how_out: "is called", "is jumped to", "is written through". */
bool xc_taint_of_read(const struct xc_crash_context *crash, const char **how_out);

/* The faulting instruction writes through a register that was loaded through another pointer (not the stack's) in the straight code
 * before it. */
bool xc_taint_of_write(const struct xc_crash_context *crash);

#endif
