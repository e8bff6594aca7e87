/* type_impl: state shared by the files of dwarf/types/type*.c. */
#ifndef XC_TYPE_IMPL_H
#define XC_TYPE_IMPL_H

#include "dwarf/types/type.h"

/* An array type with a count or element computed for some frame. */
struct xc_type_instance {
	struct xc_type_instance *next;
	const struct xc_type *type;
};

struct xc_type_detail {
	struct xc_types *types;
	Dwarf_Die die; /* addr NULL when the type was made by hand */
	bool items_read;
	void *items; /* members, enumerators or parameter types, by kind */
	size_t item_count;
	const struct xc_variant_part *variants; /* NULL until read */
	struct xc_type_parts *parts;            /* templates, statics, methods, nested types; NULL until read */
	const char *text;                       /* name with declarators; NULL until built */
	const struct xc_type *complete, *pointer;
	bool thorough; /* `complete` is the result of a thorough search */
	struct xc_type_instance *instances;
	size_t instance_count;
	Dwarf_Attribute dimension; /* of a dynamic array */
	bool has_dimension, is_bound;
	/* Of types made by hand: in bytes, of records, and of typedefs with an alignment attribute; else 0. */
	uint32_t alignment;
	bool alignment_asked; /* … by the source, of the type or of a member */
};

/* DW_AT_accessibility of a DIE in a struct, class or union. */
enum xc_member_access xc_type_access(const struct xc_type *owner, Dwarf_Die *die);

/* Fill in an array or a string from its DIE. */
void xc_type_fill_array(struct xc_types *types, struct xc_type *type, Dwarf_Die *die, int language);
void xc_type_fill_string(struct xc_types *types, struct xc_type *type, Dwarf_Die *die);

/* Read the enumerators of an enum; sets is_flags. */
void xc_type_read_enumerators(struct xc_type *type);

#endif
