/* die: small steps over debugging information entries that a hostile file cannot turn into loops. */
#ifndef XC_DIE_H
#define XC_DIE_H

#include <elfutils/libdw.h>

#include "../core/base.h"

/* The first child of a DIE; false when it has none. */
bool xc_die_child(Dwarf_Die *die, Dwarf_Die *child_out);

/* Step to the next sibling; false at the end, and when DW_AT_sibling does not lead forward. */
bool xc_die_next(Dwarf_Die *die);

/* An attribute of the DIE itself, of its abstract origin or of its specification. False when there is none. */
bool xc_die_attr(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr_out);

/* True when that attribute is a flag and set. */
bool xc_die_flag(Dwarf_Die *die, unsigned name);

/* The DIE that an attribute refers to; false when there is none. */
bool xc_die_ref(Dwarf_Die *die, unsigned name, Dwarf_Die *to_out);

/* The value of a plain constant; false for blocks and expressions. Values of the unsigned forms (data, udata) are
 * zero-extended, those of sdata and implicit_const are two's complement. */
bool xc_die_constant(Dwarf_Attribute *attr, uint64_t *value_out);

/* The same for a DIE's attribute by name. */
bool xc_die_number(Dwarf_Die *die, unsigned name, uint64_t *value_out);

#endif
