/* layout_report: all meanings of a type's name: each different definition, with the place of its declaration. */
#ifndef XC_LAYOUT_REPORT_H
#define XC_LAYOUT_REPORT_H

#include "core/report/report.h"
#include "dwarf/layout/layout_text.h"

/* A document `type` (xcore.ptype/1) for a type's name: "client", "struct client", "ns::C<int>", "libx.so!struct foo".
 * Definitions with the same text are shown once, with all their places. Different ones follow each other; in JSON they
 * are "others". Errors: XC_ERR_NOT_FOUND, with similar names as the hint; XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_layout_report(struct xc_section *s, const struct xc_process *process,
						const char *text, const struct xc_layout_shown *shown);

/* True when a name without keyword only means tags of C (`struct list` for `list`): any other meaning is preferred. */
bool xc_layout_is_tag(const struct xc_process *process, const char *text);

/* The document for a given type; `name` is the name that the user typed. */
void xc_layout_report_type(struct xc_section *s, const struct xc_process *process, const struct xc_type *type,
			   const struct xc_layout_shown *shown);

/* The options of a listing of a module's types. */
struct xc_layout_listing {
	const char *kind; /* "struct", "class", "union", "enum", "typedef"; NULL: all */
	struct xc_layout_shown shown;
	bool json; /* a line of JSON per type; else text */
	/* Called for each line; false ends the listing. */
	bool (*line)(void *context, const char *text);
	void *context;
};

/* Lists every named type of a module, each different definition once. Cost: reads all types of the module. */
void xc_layout_list(const struct xc_process *process, struct xc_module *module,
		    const struct xc_layout_listing *listing);

#endif
