/* view_impl: what hooks share (dwarf/view_*.c). */
#ifndef XC_VIEW_IMPL_H
#define XC_VIEW_IMPL_H

#include "view.h"

enum {
	XC_VIEW_STEPS = 1 << 12, /* of a walk inside one call (down a tree, over empty buckets) */
	XC_VIEW_DEPTH = 128,     /* a balanced tree of 2^64 elements is less deep */
};

/* Tables of hooks, each ended by one without name. */
extern const struct xc_view_hook xc_view_cxx[], xc_view_libstdcxx[], xc_view_libstdcxx_nodes[],
	xc_view_libstdcxx_holders[], xc_view_libcxx[], xc_view_libcxx_nodes[], xc_view_rust[], xc_view_rust_maps[];

/* ---- parts of values; all are probes ---- */

/* Follow a path of member names, "_M_impl._M_start", through base classes and typedefs; a pointer on the way is followed. "<N>" is
 * base class number N. value and out may be the same. */
bool xc_view_part(const struct xc_value *value, const char *path, struct xc_value *out);

/* The same for the first path that exists; NULL ends the list. */
bool xc_view_part_of(const struct xc_value *value, struct xc_value *out, const char *const paths[]);

/* The bits of an integer, enum, bool or pointer down that path. */
bool xc_view_number(const struct xc_value *value, const char *path, uint64_t *bits_out);

/* A value of another type in the same place, `offset` bytes further on. */
struct xc_value xc_view_cast(const struct xc_value *value, const struct xc_type *type, uint64_t offset);

/* A pointer-sized word of memory. */
bool xc_view_word(const struct xc_view *view, xc_addr addr, uint64_t *word_out);

/* True when the first and the last byte of a range can be read; also for an empty range. */
bool xc_view_readable(const struct xc_view *view, xc_addr addr, uint64_t len);

/* ---- types ---- */

/* Typedefs and qualifiers removed, definition found. */
const struct xc_type *xc_view_plain(const struct xc_type *type);

/* Does the path lead to something in values of this type? *type_out (may be NULL) gets what. */
bool xc_view_has(const struct xc_type *type, const char *path, const struct xc_type **type_out);

/* A type argument of the template that made the type; NULL when there is none. */
const struct xc_type *xc_view_argument(const struct xc_type *type, size_t position);
size_t xc_view_argument_count(const struct xc_type *type);

/* A type that the class, or a base class, declares in its scope; NULL when the debug information leaves it out. */
const struct xc_type *xc_view_nested(const struct xc_type *type, const char *name);

/* The alignment of a type: what the source asks for, else what its scalars need. 1 at least. */
uint64_t xc_view_alignment(const struct xc_type *type);

/* Where something of this type lies behind a head of `offset` bytes. */
uint64_t xc_view_align(uint64_t offset, const struct xc_type *type);

/* The name of a type for people: std::string for its long form, default template arguments left out. */
void xc_view_type_name(struct xc_text *text, const struct xc_type *type);

/* ---- opening ---- */

/* Set view->why; returns false. */
bool xc_view_invalid(struct xc_view *view, const char *format, ...) XC_PRINTF(2, 3);

/* view->why for something that cannot be read, with the reason; returns false. */
bool xc_view_missing(struct xc_view *view, const char *what, const struct xc_value *part);

/* The view of [begin, end) as an array of shape->element, after checking it (begin <= end <= cap, whole elements, readable). */
bool xc_view_array(struct xc_view *view, xc_addr begin, xc_addr end, xc_addr cap);

/* The same with a count. */
bool xc_view_counted(struct xc_view *view, xc_addr begin, uint64_t count);

/* The view as a text of `count` characters of shape->element from addr on. */
bool xc_view_characters(struct xc_view *view, xc_addr addr, uint64_t count);

/* The view becomes that of a part of it, if the part has one with children; with prefix before its summary. */
enum xc_view_result xc_view_become(struct xc_view *view, const struct xc_value *part, const char *prefix);

/* The view as a wrapper of view->part, or as that of its content when that has children. gdb's way:
 * "std::optional<…> containing std::vector of length 2…". title: what to say before " containing ". */
bool xc_view_wrap(struct xc_view *view, const struct xc_value *part, const char *title);

/* "1 element", "3 elements" behind the title. */
void xc_view_with_elements(const struct xc_view *view, struct xc_text *text);

#endif
