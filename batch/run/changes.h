/* changes: which of the files that finished records were made with and without (sought.h) have come, gone or been exchanged since.
 *
 * Cores name these files, and opening one may never return (desk.h). So another process looks; what does not answer counts as unchanged. */
#ifndef XC_CHANGES_H
#define XC_CHANGES_H

#include "batch/record/sought.h"
#include "batch/sandbox/worker.h"

struct xc_changes {
	const struct xc_worker_options *worker;
	struct xc_sought **files; /* xc_changes_want's */
	size_t count, capacity;
	const struct xc_sought *silent; /* out: the first one that did not answer, or NULL */
};

/* Add what the record was made with and without, each file once: each counts as unchanged until it is found to be another. Borrowed until the
 * end. */
void xc_changes_want(struct xc_changes *changes, const struct xc_record *record);

/* Look for all that were added, once each. Returns early when the user interrupts. Cost: a process, and an open of each file that is there.
 * Errors: XC_ERR_IO: no process can be started. */
XC_MUST_CHECK struct xc_error *xc_changes_look(struct xc_changes *changes);
void xc_changes_fini(struct xc_changes *changes);

#endif
