/* layout_report: what a type's name means, all of it: each definition that differs, with where it is declared. */
#ifndef XC_LAYOUT_REPORT_H
#define XC_LAYOUT_REPORT_H

#include "core/report/report.h"
#include "dwarf/layout/layout_text.h"

/* A document `type` (xcore.ptype/1) for a type's name: "client", "struct client", "ns::C<int>", "libx.so!struct foo".
 * Several definitions that look the same are one, with all their places; those that differ follow each other, in JSON as
 * "others". Errors: XC_ERR_NOT_FOUND, with the nearest names as hint; XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_layout_report(struct xc_section *s, const struct xc_process *process,
						const char *text, const struct xc_layout_shown *shown);

/* True when a name without keyword means nothing but tags of C (`struct list`, when the source says `list`): something else of
 * that name comes first. */
bool xc_layout_is_tag(const struct xc_process *process, const char *text);

/* A document for a type that is at hand; `name` is what was asked for. */
void xc_layout_report_type(struct xc_section *s, const struct xc_process *process, const struct xc_type *type,
			   const struct xc_layout_shown *shown);

/* What a listing of a module's types contains. */
struct xc_layout_listing {
	const char *kind; /* "struct", "class", "union", "enum", "typedef"; NULL: all */
	struct xc_layout_shown shown;
	bool json; /* a line of JSON per type; else text */
	/* Called for each; false ends the listing. */
	bool (*line)(void *context, const char *text);
	void *context;
};

/* Every named type of a module, each that differs from those before it. Cost: reads all of its types. */
void xc_layout_list(const struct xc_process *process, struct xc_module *module,
		    const struct xc_layout_listing *listing);

#endif
