/* guest_wire: what was told of guests as tables of a report, by which it comes home from the process that a plugin runs in. */
#ifndef XC_GUEST_WIRE_H
#define XC_GUEST_WIRE_H

#include "core/report/report.h"
#include "dwarf/cfi/guest.h"

/* Write all that was told into a section. Failures stay. */
void xc_guests_tell(struct xc_section *section, const struct xc_process *process);

/* Add what such a section tells. Errors: those of adding; XC_ERR_FORMAT for tables that are none of xc_guests_tell's. What came before
 * the error is added. */
XC_MUST_CHECK struct xc_error *xc_guests_hear(struct xc_process *process, const struct xc_section *section);

#endif
