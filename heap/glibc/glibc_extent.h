/* glibc_extent: from where to where an arena's memory reaches when its own account of it is damaged. */
#ifndef XC_GLIBC_EXTENT_H
#define XC_GLIBC_EXTENT_H

#include "heap/glibc/glibc_impl.h"

/* Of the main arena, its part that ends with the top chunk: by top and system_mem when those agree with what lies there, else by the
 * mapping. False when not even that is known. */
bool xc_glibc_main_extent(const struct xc_glibc *glibc, struct xc_window *window, size_t arena, xc_addr *lo_out,
			  xc_addr *hi_out);

/* Of a sub-arena, its first heap, by the mapping that its state lies in. */
bool xc_glibc_first_heap_extent(const struct xc_glibc *glibc, size_t arena, xc_addr *lo_out, xc_addr *hi_out);

#endif
