/* glibc_audit: checks glibc's free lists and arenas, after the table of blocks is made. */
#ifndef XC_GLIBC_AUDIT_H
#define XC_GLIBC_AUDIT_H

#include "heap/glibc/glibc_impl.h"

/* The `audit` of struct xc_allocator. */
void xc_glibc_audit(struct xc_heap *heap, void *state, struct xc_audit_coverage *audit_coverage);

#endif
