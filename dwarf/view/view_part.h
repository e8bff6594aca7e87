/* view_part: parts of containers by the names of their members.
 *
 * A path is a chain of member names, "_M_impl._M_start". It leads through base classes, typedefs and anonymous members;
 * "<N>" is base class number N. Libraries name members differently in each release, so callers try several paths. All
 * functions are probes: false, or NULL, where a path does not exist or a byte cannot be read. */
#ifndef XC_VIEW_PART_H
#define XC_VIEW_PART_H

#include "dwarf/value/value.h"

/* ---- values ---- */

/* The part at the end of a path. A pointer on the way is followed. value and out may be the same. */
bool xc_view_part(const struct xc_value *value, const char *path, struct xc_value *out);

/* The part at the first of the paths that exists; NULL ends the list. */
bool xc_view_part_of(const struct xc_value *value, struct xc_value *out, const char *const paths[]);

/* The content of nested wrappers: descends while a struct has exactly one member of nonzero size. False when a struct
 * with several such members, or a union, is at the end. */
bool xc_view_unwrap(const struct xc_value *value, struct xc_value *out);

/* The bits of the integer, enum, bool or pointer at the end of a path. */
bool xc_view_number(const struct xc_value *value, const char *path, uint64_t *bits_out);

/* The same at the first of the paths that exists. */
bool xc_view_number_of(const struct xc_value *value, const char *const paths[], uint64_t *bits_out);

/* A value of another type in the same place, `offset` bytes further on. */
struct xc_value xc_view_cast(const struct xc_value *value, const struct xc_type *type, uint64_t offset);

/* ---- types ---- */

/* The type without typedefs and qualifiers; its definition if it is a declaration. */
const struct xc_type *xc_view_plain(const struct xc_type *type);

/* Does the path exist in values of this type? *type_out (may be NULL) gets the type of the part. */
bool xc_view_has(const struct xc_type *type, const char *path, const struct xc_type **type_out);

/* The offset of the part in bytes; pointers are not followed. */
bool xc_view_offset(const struct xc_type *type, const char *path, uint64_t *offset_out);

/* Both for the first of the paths that exists; NULL ends the list. */
bool xc_view_has_of(const struct xc_type *type, const char *const paths[], const struct xc_type **type_out);
bool xc_view_offset_of(const struct xc_type *type, const char *const paths[], uint64_t *offset_out);

/* A type argument of the template that made the type; NULL when there is none. */
const struct xc_type *xc_view_argument(const struct xc_type *type, size_t position);
size_t xc_view_argument_count(const struct xc_type *type);

/* A type that the class, or a base class, declares in its scope; NULL when the debug information leaves it out. */
const struct xc_type *xc_view_nested(const struct xc_type *type, const char *name);

/* The alignment of a type in bytes: what the source asks for, else that of its scalars. At least 1. */
uint64_t xc_view_alignment(const struct xc_type *type);

/* The first offset from `offset` on where an object of this type may lie. */
uint64_t xc_view_align(uint64_t offset, const struct xc_type *type);

#endif
