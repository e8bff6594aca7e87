/* query: what xc_lookup searches for. */
#ifndef XC_QUERY_H
#define XC_QUERY_H

#include <elfutils/libdw.h>

#include "core/process/process.h"
#include "dwarf/index/name_kind.h"

/* A zero field restricts nothing. */
struct xc_query {
	const char *name;         /* as source writes it, qualified (lookup.h) */
	unsigned kinds;           /* bits of enum xc_name_kind */
	int tag;                  /* DW_TAG_structure_type (also finds classes), …; 0: any of the kinds */
	struct xc_module *module; /* search only this one */
	const char *unit; /* only units compiled from this file, or declarations in it: "file.c", or more of its path */
	bool anywhere;    /* match the name in any scope: "Class" also finds ns::Class */
	bool declarations; /* also find what is only declared */
	/* Definitions in the unit of this DIE come first, before XC_LOOKUP_MAX is reached; may be NULL. */
	Dwarf_Die *near;
	/* xc_lookup_one: none, where the best definitions are of different sizes, as of structs that files of C keep to
	 * themselves: which of them is meant is not known. */
	bool agreed;
	bool near_only;  /* only definitions in that unit */
	bool small_only; /* skip modules with more than XC_LOOKUP_SMALL bytes of .debug_info, whether indexed or not */
};

#endif
