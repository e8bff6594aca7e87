/* template: arguments of templates, and the names that are made from them. */
#ifndef XC_TEMPLATE_H
#define XC_TEMPLATE_H

#include "dwarf/types/type.h"

/* Is it the tag of an argument (not of a pack)? */
bool xc_template_is_argument(int tag);

/* What an argument says; `name` is the parameter's, which elements of a pack share. */
struct xc_template xc_template_read(struct xc_types *types, Dwarf_Die *die, const char *name, bool is_pack);

/* The own name of a DIE, without scope. A class whose name lacks its arguments (clang -gsimple-template-names) gets them from its
 * children, written as clang writes them otherwise: "box<int, 3, char>". At most 4 KiB, cut with "..."; NULL when it
 * has none. Lives as long as the process. */
const char *xc_template_name(struct xc_types *types, Dwarf_Die *die);

#endif
