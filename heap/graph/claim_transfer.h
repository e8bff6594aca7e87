/* claim_transfer: claims as tables of a report, by which they come home from the process that a plugin runs in. */
#ifndef XC_CLAIM_TRANSFER_H
#define XC_CLAIM_TRANSFER_H

#include "core/report/report.h"
#include "heap/graph/claim.h"

/* Move all claims of the heap into a section: it has none afterwards. Types go by name. */
void xc_claim_transfer_report(struct xc_section *section, struct xc_heap *heap);

/* Add what such a section tells. A type that the debug information does not have by this name leaves its claim without one.
 * Errors: those of xc_claim_add; XC_ERR_FORMAT for tables that are none of xc_claim_transfer_report's. */
XC_MUST_CHECK struct xc_error *xc_claim_transfer_load(struct xc_heap *heap, const struct xc_section *section);

#endif
