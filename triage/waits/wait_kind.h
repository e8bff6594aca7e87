/* wait_kind: the waiting functions of the C library, of C++ and of Rust, and what they wait for. */
#ifndef XC_WAIT_KIND_H
#define XC_WAIT_KIND_H

#include "triage/waits/wait.h"

/* Update the kind by a function of the stack. Call it from the innermost function outward. */
void xc_wait_kind_update(struct xc_wait *wait, const char *function);

/* The documented name: "write" for "__libc_write", "fputs" for "_IO_fputs". A part of the argument. */
const char *xc_wait_kind_plain(const char *function);

/* Does it allocate or free memory: malloc, free and their internals? */
bool xc_wait_kind_allocates(const char *function);

/* Do both functions of the C library take the same lock of it? NULL takes none. */
bool xc_wait_kind_same_lock(const char *one, const char *other);

#endif
