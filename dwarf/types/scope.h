/* scope: names of types, qualified by their namespaces and classes. */
#ifndef XC_SCOPE_H
#define XC_SCOPE_H

#include "dwarf/types/type.h"

/* The scope of a DIE: "ns::Class" for a member of that class, "" at the top of a unit (and inside functions, as gdb
 * names local types). Lives as long as the process. Cost: a unit's top level is indexed on first use. */
const char *xc_scope_prefix(struct xc_types *types, Dwarf_Die *die);

/* The DIE's name with its scope; NULL when it has no name. Lives as long as the process. */
const char *xc_scope_name(struct xc_types *types, Dwarf_Die *die);

/* The name with C's integer types in their usual spelling: gcc writes "long unsigned int" where source, clang and gdb
 * have "unsigned long", also in template arguments. Returns name itself when nothing changes, else a copy in the
 * arena. */
const char *xc_scope_canonical(struct xc_arena *arena, const char *name);

/* The entry that directly holds a DIE (the enum of an enumerator); false when that is the unit itself. */
bool xc_scope_parent(struct xc_types *types, Dwarf_Die *die, Dwarf_Die *parent_out);

#endif
