/* typing_map: shared by typing_map.c, typing_slot.c, typing_tag.c and typing_index.c. */
#ifndef XC_TYPING_MAP_H
#define XC_TYPING_MAP_H

#include "heap/types/typing_engine.h"

/* Is the stripped type a struct, class or union; a pointer or reference? */
bool xc_typemap_is_record(const struct xc_type *type);
bool xc_typemap_is_pointer(const struct xc_type *type);

/* The elements of an array, also of arrays in arrays. False if their number is unknown. */
bool xc_typemap_element(const struct xc_type *array, const struct xc_type **element_out, uint64_t *count_out);

/* Is it a type in which an allocator keeps free memory? Pointers to it lead to no object of the program. */
bool xc_typemap_is_of_allocator(const char *name);

/* The member of a record, at `offset` in an object, that distinguishes variants. False if there is none. `depth` is
 * 0. */
bool xc_typing_find_tag(const struct xc_type *bare, uint64_t offset, struct xc_tag *tag, unsigned depth);

#endif
