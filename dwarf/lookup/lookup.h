/* lookup: definitions by name, in one module or in all of them.
 *
 * A name is written as in source, qualified: "server", "client", "ns::Class<int>::member", "unsigned long". White
 * space and compilers' spellings of integers ("long unsigned int") make no difference. Components of anonymous
 * namespaces may be left out. The keywords struct, class, union and enum are not part of a name. Look-ups use the
 * name index (index.h): the first one in a module maps its index, or builds it, which reads all of its .debug_info
 * once. Not thread-safe. */
#ifndef XC_LOOKUP_H
#define XC_LOOKUP_H

#include "core/base/text.h"
#include "dwarf/lookup/query.h"

/* One result. The DIE lives as long as the process. */
struct xc_definition {
	struct xc_module *module;
	Dwarf_Die die;
	enum xc_name_kind kind;
	bool declaration;
	bool external;     /* has external linkage */
	const char *macro; /* of a macro: its body, which lives as long as the process; then `die` is unset */
};

struct xc_definitions {
	struct xc_definition *items; /* owned; xc_definitions_fini */
	size_t count, capacity;
	bool more; /* there are more than XC_LOOKUP_MAX */
};

enum { XC_LOOKUP_MAX = 256, XC_LOOKUP_SMALL = 8 << 20 };

/* All definitions of a name: those of the executable first, then in load order, and in a module in the order of its
 * units, but those of the unit `near` first. Types that equal one already found (name, kind, size and place in the
 * source) are left out. An empty result is not an error. Modules without debug information are skipped. Errors:
 * XC_ERR_USAGE (no name). */
XC_MUST_CHECK struct xc_error *xc_lookup(const struct xc_process *process, const struct xc_query *query,
					 struct xc_definitions *found);
void xc_definitions_fini(struct xc_definitions *found);

/* The best definition: those in the unit `near` (or its module) first, then definitions before declarations, then
 * external ones. False when there is none. */
bool xc_lookup_one(const struct xc_process *process, const struct xc_query *query, struct xc_definition *out);

/* The names nearest to the query's, for "did you mean": appends at most `max`, separated by commas. Returns their
 * number. Cost: reads every name of the modules. */
size_t xc_lookup_similar(const struct xc_process *process, const struct xc_query *query, size_t max,
			 struct xc_text *text);

/* Call `each` with every definition of some kinds in a module, in the order of the file, until it returns false. The
 * name is qualified. For listings and tests. */
typedef bool xc_lookup_fn(void *context, const char *name, const struct xc_definition *definition);
void xc_lookup_each(const struct xc_process *process, struct xc_module *module, unsigned kinds, xc_lookup_fn *each,
		    void *context);

#endif
