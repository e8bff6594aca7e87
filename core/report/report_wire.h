/* report_wire: serialises the sections of a report, to send them from one process of xcore to another.
 *
 * Everything in sections except stacks: fields, tables, messages, texts, trees, documents, histograms; and printed
 * lines and `incomplete`. Both processes are of the same build: only the version is checked. The reader treats the
 * bytes as hostile, because its input may have compromised the writer. */
#ifndef XC_REPORT_WIRE_H
#define XC_REPORT_WIRE_H

#include <stdio.h>

#include "core/report/report.h"

/* Limits of the reader. */
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

/* Append the written parts to a report. Memory is at most 40 times len. Linear in len.
 * Errors: XC_ERR_FORMAT, XC_ERR_LIMIT: parts before the damage are in the report. */
XC_MUST_CHECK struct xc_error *xc_report_read(const void *bytes, size_t len, struct xc_report *into);

#endif
