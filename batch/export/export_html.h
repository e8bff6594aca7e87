/* export_html: what the files of the HTML page share. */
#ifndef XC_EXPORT_HTML_H
#define XC_EXPORT_HTML_H

#include "core/report/stacktree.h"
#include "batch/export/export.h"

/* All that the page's script shows of clusters and of cores that failed, as JSON without '<', so that nothing in it can end the element
 * it stands in. A string, and a row of a stack, stands there once and is meant by its number; 0 is what is not known. Strings are escaped
 * for people already (xc_text_name). Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_html_data(const struct xc_problems *problems, const struct xc_export_options *options,
					    FILE *out);

/* The stacks of all cores that have a verdict, outermost rows first, below the program's name; a core weighs 1. The caller begins and ends
 * the tree, and finishes it. */
void xc_html_crashes(const struct xc_problems *problems, struct xc_stacktree *tree);

#endif
