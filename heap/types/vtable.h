/* vtable: objects that say themselves what they are, by the pointer to a table of virtual functions that they begin with.
 *
 * Itanium C++ ABI 2.5: such a pointer (a vptr) leads behind two words of its table:
 *
 *	vptr - 16  offset to top   from the part of an object with this vptr to its beginning: zero or negative
 *	vptr - 8   type info       { vptr of a class of the ABI, mangled name, bases … }; 0 with -fno-rtti
 *	vptr       functions …
 *
 * So the name of the class stands in the memory of a program without symbols and debug information. Where the compiler was told to
 * leave it out, the symbol of the table has it (_ZTV…). The class itself comes from debug information, by that name or by the
 * `this` of the functions. */
#ifndef XC_VTABLE_H
#define XC_VTABLE_H

#include "dwarf/types/type.h"
#include "heap/blocks/heap.h"

struct xc_vtable {
	xc_addr addr;               /* what a vptr holds */
	const char *name;           /* of the class, demangled; lives as long as the process */
	const struct xc_type *type; /* by debug information; NULL when it does not describe the class */
	uint64_t size;              /* of an object, bytes; 0: not known */
	int64_t to_top;             /* see above */
	uint32_t user[2];           /* for the use of who scans; zeroes at first */
};

struct xc_vtables;

struct xc_vtables *xc_vtables_new(const struct xc_process *process);
void xc_vtables_free(struct xc_vtables *tables); /* NULL is fine */

/* Call `seen` with every live block that begins with an object that has a vptr: at its beginning, or (offset 8, as new[] of classes
 * with destructors has it) behind the number of elements of an array, which is checked against the block's size. In address order,
 * in the calling thread. Reads are parallel; under 20 ns a block. */
typedef void xc_vtable_fn(void *context, uint32_t block, uint64_t offset, struct xc_vtable *vtable);
void xc_vtables_scan(struct xc_vtables *tables, const struct xc_heap *heap, xc_vtable_fn *seen, void *context);

#endif
