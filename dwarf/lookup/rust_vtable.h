/* rust_vtable: the tables of functions of Rust's trait objects, by address.
 *
 * rustc (since 1.60) describes each table as a variable "<T as Trait>::{vtable}", whose type names T as its containing
 * type (DW_AT_containing_type). */
#ifndef XC_RUST_VTABLE_H
#define XC_RUST_VTABLE_H

#include "dwarf/types/type.h"

struct xc_rust_vtable {
	xc_addr addr;
	const struct xc_type *type; /* T */
};

/* All tables of the process, in the order of their addresses; those of equal tables that the linker merged have one
 * address. Lives as long as the process. The first call reads all names of variables (lookup.h: it may build the
 * index); at most a million tables. */
const struct xc_rust_vtable *xc_rust_vtables(const struct xc_process *process, size_t *count_out);

/* The type of the objects that use the table. NULL: it is no table, or one of several types. */
const struct xc_type *xc_rust_vtable_type(const struct xc_process *process, xc_addr table);

#endif
