/* name_query: the name of a query, split into components, and how entries of an index match it.
 *
 * The last component leads to candidates by its hash; the scopes of each candidate are compared from the inside out.
 * Namespaces that are inline or anonymous may be left out. */
#ifndef XC_NAME_QUERY_H
#define XC_NAME_QUERY_H

#include "dwarf/index/index.h"
#include "dwarf/lookup/query.h"

enum { XC_NAME_QUERY_PARTS = 64 };

struct xc_name_part {
	const char *text;
	size_t len;
	uint32_t hash;
};

struct xc_name_query {
	const struct xc_query *query;
	struct xc_name_part parts[XC_NAME_QUERY_PARTS]; /* last first */
	size_t part_count;
	bool bare; /* without template arguments, which are compared when the entry is opened: */
	struct xc_name_part given[XC_NAME_QUERY_PARTS]; /* the parts as the query has them */
};

/* Split the query's name; borrows it. False when it has none. */
bool xc_name_query_split(const struct xc_query *query, struct xc_name_query *wanted);

/* Cut off the template arguments, for units whose names lack them (clang -gsimple-template-names). False when there
 * are none. */
bool xc_name_query_make_bare(struct xc_name_query *wanted);

/* Does the entry have that name, kind and tag? */
bool xc_name_query_matches(const struct xc_name_query *wanted, struct xc_index *index,
			   const struct xc_index_entry *entry);

/* Are the parts, as the query has them, in the DIE's whole name in this order? For bare queries. */
bool xc_name_query_has_arguments(const struct xc_name_query *wanted, const struct xc_process *process, Dwarf_Die *die);

#endif
