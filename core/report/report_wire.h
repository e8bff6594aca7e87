/* report_wire: the sections of a report as bytes, to be sent from one of our processes to another.
 *
 * All that a section can hold but stacks: fields, tables, messages, texts, trees, documents, histograms; and printed lines and
 * `incomplete`. The two processes are of one build: the version is checked, nothing else is promised. The reader takes the bytes
 * for hostile: the writer may have been taken over by what it looked at. */
#ifndef XC_REPORT_WIRE_H
#define XC_REPORT_WIRE_H

#include <stdio.h>

#include "core/report/report.h"

/* What a reader takes at most. */
enum {
	XC_WIRE_SECTIONS = 2048,
	XC_WIRE_ITEMS = 1 << 16,         /* in all */
	XC_WIRE_SECTION_ITEMS = 1 << 13, /* of one section */
	XC_WIRE_COLUMNS = 256,
	XC_WIRE_CELLS = 1 << 24, /* of all tables */
	XC_WIRE_SMALL = 1 << 22, /* printed lines, nodes of trees and buckets of histograms, together */
};

/* Trees must be finished. Errors: XC_ERR_IO; XC_ERR_UNSUPPORTED for a section with stacks. */
XC_MUST_CHECK struct xc_error *xc_report_write(const struct xc_report *report, FILE *out);

/* Add what was written to a report, behind what it has. Memory is in proportion to len (at most 40 times). Linear in len.
 * Errors: XC_ERR_FORMAT, XC_ERR_LIMIT: what came before the damage is in the report. */
XC_MUST_CHECK struct xc_error *xc_report_read(const void *bytes, size_t len, struct xc_report *into);

#endif
