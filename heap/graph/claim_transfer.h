/* claim_transfer: transfers claims from a plugin's process as tables of a report. */
#ifndef XC_CLAIM_TRANSFER_H
#define XC_CLAIM_TRANSFER_H

#include "core/report/report.h"
#include "heap/graph/claim.h"

/* Moves all claims of the heap into a section; the heap has none afterwards. Types are transferred by name. */
void xc_claim_transfer_report(struct xc_section *section, struct xc_heap *heap);

/* Adds the claims of such a section. A claim whose type is not in the debug information has no type. Errors: those
 * of xc_claim_add; XC_ERR_FORMAT for tables that xc_claim_transfer_report did not make. */
XC_MUST_CHECK struct xc_error *xc_claim_transfer_load(struct xc_heap *heap, const struct xc_section *section);

#endif
