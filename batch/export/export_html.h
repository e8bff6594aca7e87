/* export_html: shared by the files of the HTML page. */
#ifndef XC_EXPORT_HTML_H
#define XC_EXPORT_HTML_H

#include "core/report/stacktree.h"
#include "batch/export/export.h"

/* Writes the data of clusters and failed cores for the page's script, as JSON without '<', so that nothing in it can
 * end its element. Each string and each row of a stack is written once and referred to by number; 0 means unknown.
 * Strings are already escaped for people (xc_text_name). Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_html_data(const struct xc_problems *problems, const struct xc_export_options *options,
					    FILE *out);

/* Adds the stacks of all cores with a verdict, outermost rows first, below the program's name; each core weighs 1. The
 * caller begins, ends and finishes the tree. */
void xc_html_crashes(const struct xc_problems *problems, struct xc_stacktree *tree);

#endif
