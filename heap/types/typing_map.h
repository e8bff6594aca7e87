/* typing_map: what only some files of typing need to know about types. */
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

/* Structs and classes from `least` to `most` bytes. */
const uint32_t *xc_type_index_sized(const struct xc_engine *engine, uint64_t least, uint64_t most, size_t *count_out);

/* The program's own types with a flexible last member. */
const uint32_t *xc_type_index_flexible(const struct xc_engine *engine, size_t *count_out);

/* Is the type the program's own? */
bool xc_typemap_is_own(struct xc_typemap *map);

/* Text from the beginning of an object of the map, over a whole pointer? Then the block was freed and is used for the
 * text, or the pointer that leads there has a wrong type. */
bool xc_typing_has_text_instead(const struct xc_engine *engine, const struct xc_typemap *map, const uint8_t *bytes,
				uint64_t size);

/* The name of a slot: "struct client.querybuf". */
const char *xc_typemap_via(struct xc_engine *engine, const struct xc_typemap_slot *slot);

/* Sets each map's number of blocks. */
void xc_typemap_count_blocks(struct xc_engine *engine);

/* May a block of `size` bytes be of a larger type that begins with this one? */
bool xc_typing_may_be_derived(const struct xc_engine *engine, const struct xc_typemap *map, uint64_t size);

#endif
