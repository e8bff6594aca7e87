/* die: steps over debugging information entries, safe against loops in hostile files. */
#ifndef XC_DIE_H
#define XC_DIE_H

#include <elfutils/libdw.h>

#include "core/base/arena.h"

/* The first child of a DIE; false when it has none. */
bool xc_die_child(Dwarf_Die *die, Dwarf_Die *child_out);

/* Step to the next sibling; false at the end, and when DW_AT_sibling does not lead forward. */
bool xc_die_next(Dwarf_Die *die);

/* dwarf_tag and dwarf_haschildren, faster for walks over many DIEs. */
int xc_die_tag(Dwarf_Die *die);
bool xc_die_has_children(Dwarf_Die *die);

/* Does one of its ranges hold the address? */
bool xc_die_holds(Dwarf_Die *die, uint64_t file_addr);

/* The address where a function begins: its entry, else the first of its ranges (the others are cold parts). False
 * when it has no code, or lost it when it was linked. */
bool xc_die_entry(Dwarf_Die *die, uint64_t *file_addr_out);

/* An attribute of the DIE itself, of its abstract origin or of its specification. False when there is none. */
bool xc_die_attr(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr_out);

/* DW_AT_name, likewise; NULL when there is none. */
const char *xc_die_name(Dwarf_Die *die);

/* The same for what programmers name: members, variables, enumerators. Their names may be ends of one long string, a
 * million names of a megabyte in a small file: one of more than XC_DIE_IDENTIFIER bytes is cut, with "…", in the
 * arena. */
enum { XC_DIE_IDENTIFIER = 1024 };
const char *xc_die_identifier(Dwarf_Die *die, struct xc_arena *arena);

/* The DIE that an attribute of any reference form leads to; in a type unit or the supplementary file, too. */
bool xc_die_follow(Dwarf_Attribute *attr, Dwarf_Die *to_out);

/* True when that attribute is a flag and set. */
bool xc_die_flag(Dwarf_Die *die, unsigned name);

/* The DIE that an attribute refers to; false when there is none. */
bool xc_die_ref(Dwarf_Die *die, unsigned name, Dwarf_Die *to_out);

/* The value of a plain constant; false for blocks and expressions. Values of the unsigned forms (data, udata) are
 * zero-extended, those of sdata and implicit_const are two's complement. */
bool xc_die_constant(Dwarf_Attribute *attr, uint64_t *value_out);

/* The same for a DIE's attribute by name. */
bool xc_die_number(Dwarf_Die *die, unsigned name, uint64_t *value_out);

/* The bytes after a return address that the compiler counts as part of the call: 4 on ppc64, where a call into
 * another module is followed by an instruction that restores r2; else 0. */
unsigned xc_die_behind_call(Dwarf_CU *cu);

#endif
