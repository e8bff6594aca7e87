/* render: a report as text for people, JSON for machines, or one self-contained HTML page. */
#ifndef XC_RENDER_H
#define XC_RENDER_H

#include <stdio.h>

#include "report.h"

struct xc_render_options {
	bool color;       /* text: ANSI colours */
	unsigned width;   /* text: columns to fit, 100 when 0 */
	bool stats;       /* include the report's run section */
	bool redact;      /* argument and local values, arguments of the program and abort texts are left out */
	bool single;      /* JSON: the one section alone, by its own schema (bt, …) */
};

/* Write the report to out. Errors: XC_ERR_IO. JSON of the same target is byte-identical, whatever the
 * file's name, compression or time. Strings of the target are escaped in every format. */
XC_MUST_CHECK struct xc_error *xc_render_text(const struct xc_report *report, const struct xc_render_options *options, FILE *out);
XC_MUST_CHECK struct xc_error *xc_render_json(const struct xc_report *report, const struct xc_render_options *options, FILE *out);
XC_MUST_CHECK struct xc_error *xc_render_html(const struct xc_report *report, const struct xc_render_options *options, FILE *out);

#endif
