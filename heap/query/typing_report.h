/* typing_report: which types the heap's memory is of. */
#ifndef XC_TYPING_REPORT_H
#define XC_TYPING_REPORT_H

#include "core/report/report.h"
#include "heap/types/typing.h"

struct xc_typing_options {
	size_t limit; /* rows; 0: 40 */
	bool unknown; /* rank pointers by what knowing their type would open, too */
};

/* Make graph and types, unless they are there; a note in the section says why they cannot be made. */
void xc_typing_or_note(struct xc_section *section, struct xc_heap *heap);

/* Fill a section: how much is typed and how surely, and a row for each type, most bytes first; the rows that are left out are told.
 * Problems become notes. */
void xc_typing_report(struct xc_section *section, struct xc_heap *heap, const struct xc_typing_options *options);

#endif
