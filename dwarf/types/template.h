/* template: template arguments, and names built from them. */
#ifndef XC_TEMPLATE_H
#define XC_TEMPLATE_H

#include "dwarf/types/type.h"

/* Is it the tag of an argument (not of a pack)? */
bool xc_template_is_argument(int tag);

/* Read an argument; `name` is that of the parameter, which elements of a pack share. */
struct xc_template xc_template_read(struct xc_types *types, Dwarf_Die *die, const char *name, bool is_pack);

/* The name of a DIE without its scope. A class whose name lacks its arguments (clang -gsimple-template-names) gets
 * them from its children, as clang writes them without that option: "box<int, 3, char>". At most 4 KiB, cut with
 * "..."; NULL when it has none. Lives as long as the process. */
const char *xc_template_name(struct xc_types *types, Dwarf_Die *die);

#endif
