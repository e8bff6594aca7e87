/* kernel_symbols: names of the running kernel's functions, from /proc/kallsyms. */
#ifndef XC_KERNEL_SYMBOLS_H
#define XC_KERNEL_SYMBOLS_H

#include "core/base/base.h"

struct xc_kernel_symbols;

/* Never NULL; without symbols where the kernel hides addresses (kernel.kptr_restrict). Reads some 10 MB of text; while
 * they are in use, the same again. Each is to be freed. Not thread-safe. */
struct xc_kernel_symbols *xc_kernel_symbols_read(void);
void xc_kernel_symbols_free(struct xc_kernel_symbols *symbols); /* NULL is fine */

/* The function that holds an address, or NULL. O(log n). */
const char *xc_kernel_symbols_find(const struct xc_kernel_symbols *symbols, xc_addr addr);

#endif
