/* typing_report: the types of the heap's memory. */
#ifndef XC_TYPING_REPORT_H
#define XC_TYPING_REPORT_H

#include "core/report/report.h"
#include "heap/types/typing.h"

struct xc_typing_options {
	size_t limit; /* rows; 0: 40 */
	bool unknown; /* also rank pointers by the memory that knowing their target's type would type */
};

/* Makes graph and types, unless they exist. If they cannot be made, the section gets a note with the reason. */
void xc_typing_or_note(struct xc_section *section, struct xc_heap *heap);

/* Fills a section: how much is typed and how surely, and a row for each type, ordered by bytes; rows that are left
 * out are counted. Problems become notes. */
void xc_typing_report(struct xc_section *section, struct xc_heap *heap, const struct xc_typing_options *options);

#endif
