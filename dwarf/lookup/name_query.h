/* name_query: a name that is looked up, and whether an entry of an index bears it.
 *
 * A name is parted into components; the last one leads to candidates by its hash, and the scopes of each are compared from
 * the inside out. Namespaces that are inline or anonymous may be left out. */
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
	struct xc_name_part given[XC_NAME_QUERY_PARTS]; /* the parts as they were asked for */
};

/* Part the query's name; borrows it. False when it has none. */
bool xc_name_query_split(const struct xc_query *query, struct xc_name_query *wanted);

/* Cut the template arguments off, for units whose names do not have them (clang -gsimple-template-names). False when there are
 * none. */
bool xc_name_query_make_bare(struct xc_name_query *wanted);

/* Is the entry one of that name, kind and tag? */
bool xc_name_query_matches(const struct xc_name_query *wanted, struct xc_index *index,
			   const struct xc_index_entry *entry);

/* Do the parts as asked for stand in the DIE's whole name, in order? For bare ones. */
bool xc_name_query_has_arguments(const struct xc_name_query *wanted, const struct xc_process *process, Dwarf_Die *die);

#endif
