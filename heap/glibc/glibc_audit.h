/* glibc_audit: what glibc's free lists and arenas say of themselves, looked at when the table of blocks stands. */
#ifndef XC_GLIBC_AUDIT_H
#define XC_GLIBC_AUDIT_H

#include "heap/glibc/glibc_impl.h"

/* As `audit` of struct xc_allocator. */
void xc_glibc_audit(struct xc_heap *heap, void *state, struct xc_audit_coverage *audit_coverage);

#endif
