/* wait_kind: which functions of the C library, of C++ and of Rust sleep for what. */
#ifndef XC_WAIT_KIND_H
#define XC_WAIT_KIND_H

#include "triage/locks/wait.h"

/* Let the function, which calls those that were asked about before, tell the kind. */
void xc_wait_kind_update(struct xc_wait *wait, const char *function);

/* Its name as the manual has it: "write" of "__libc_write", "fputs" of "_IO_fputs". A part of the argument. */
const char *xc_wait_kind_plain(const char *function);

/* Is it one that asks for memory or gives it back: malloc, free and what they are made of? */
bool xc_wait_kind_allocates(const char *function);

#endif
