/* glibc_extent: the extent of an arena's memory if the arena's own account of it is damaged. */
#ifndef XC_GLIBC_EXTENT_H
#define XC_GLIBC_EXTENT_H

#include "heap/glibc/glibc_impl.h"

/* For the main arena, the part that ends with the top chunk: by top and system_mem if these agree with the memory
 * there, else by the mapping. False if not even that is known. */
bool xc_glibc_main_extent(const struct xc_glibc *glibc, struct xc_window *window, size_t arena, xc_addr *lo_out,
			  xc_addr *hi_out);

/* For a sub-arena, its first heap, by the mapping that contains its state. */
bool xc_glibc_first_heap_extent(const struct xc_glibc *glibc, size_t arena, xc_addr *lo_out, xc_addr *hi_out);

#endif
