/* vtable: objects that identify their own class, by the pointer to a table of virtual functions with which they
 * begin.
 *
 * Itanium C++ ABI 2.5: such a pointer (a vptr) points past two words of its table:
 *
 *	vptr - 16  offset to top   from the part of an object with this vptr to its beginning: zero or negative
 *	vptr - 8   type info       { vptr of a class of the ABI, mangled name, bases … }; 0 with -fno-rtti
 *	vptr       functions …
 *
 * So the name of the class is in the memory even of a program without symbols and debug information. If the
 * compiler leaves out the type info, the symbol of the table has the name (_ZTV…). The class itself comes from
 * debug information, by that name or by the `this` of the functions. */
#ifndef XC_VTABLE_H
#define XC_VTABLE_H

#include "dwarf/types/type.h"
#include "heap/blocks/heap.h"

struct xc_vtable {
	xc_addr addr;               /* the value of a vptr */
	const char *name;           /* of the class, demangled; lives as long as the process */
	const struct xc_type *type; /* from debug information; NULL if the class is not described */
	uint64_t size;              /* bytes of an object; 0: unknown */
	int64_t to_top;             /* see above */
	uint32_t user[2];           /* for the caller of the scan; initially zero */
};

struct xc_vtables;

struct xc_vtables *xc_vtables_new(const struct xc_process *process);
void xc_vtables_free(struct xc_vtables *tables); /* NULL is fine */

/* The table that a vptr points to; NULL: the word is no vptr. O(1) except for the first lookup of a word. Valid until
 * the tables are freed. */
struct xc_vtable *xc_vtables_at(struct xc_vtables *tables, xc_addr vptr);

/* Calls `seen` for every live block that begins with an object with a vptr: at its beginning, or at offset 8, after
 * the number of elements of an array (as new[] of classes with destructors stores it), which is checked against the
 * block's size. In address order, in the calling thread. Reads are parallel; less than 20 ns a block. */
typedef void xc_vtable_fn(void *context, uint32_t block, uint64_t offset, struct xc_vtable *vtable);
void xc_vtables_scan(struct xc_vtables *tables, const struct xc_heap *heap, xc_vtable_fn *seen, void *context);

#endif
