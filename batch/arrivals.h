/* arrivals: which files have come that finished records were made without (sought.h).
 *
 * Cores name these files, and opening one may never return (desk.h). So another process looks; what does not answer counts as not come. */
#ifndef XC_ARRIVALS_H
#define XC_ARRIVALS_H

#include <signal.h>

#include "sought.h"
#include "worker.h"

struct xc_arrivals {
	const struct xc_worker_options *worker;
	const volatile sig_atomic_t *stopped; /* becomes true when the user interrupts; may be NULL */
	struct xc_sought **files;             /* xc_arrivals_want's */
	size_t count, capacity;
	const struct xc_sought *silent; /* out: the first one that did not answer, or NULL */
};

/* Add what the record was made without, each file once: it stays, until one is found to have come. Borrowed until the end. */
void xc_arrivals_want(struct xc_arrivals *arrivals, const struct xc_record *record);

/* Look for all that were added, once each. Returns early when the user interrupts. Cost: a process, and an open of each file that is there.
 * Errors: XC_ERR_IO: no process can be started. */
XC_MUST_CHECK struct xc_error *xc_arrivals_look(struct xc_arrivals *arrivals);
void xc_arrivals_fini(struct xc_arrivals *arrivals);

#endif
