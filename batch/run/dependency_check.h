/* dependency_check: which of the files that finished records were made with and without (file_dependency.h) have come, gone or been exchanged since.
 *
 * Cores name these files, and opening one may never return (broker_status.h). So another process looks; what does not answer counts as unchanged. */
#ifndef XC_DEPENDENCY_CHECK_H
#define XC_DEPENDENCY_CHECK_H

#include "batch/record/file_dependency.h"
#include "batch/sandbox/worker.h"

struct xc_dependency_check {
	const struct xc_worker_options *worker;
	struct xc_file_dependency **files; /* xc_dependency_check_add's */
	size_t count, capacity;
	const struct xc_file_dependency *silent; /* out: the first one that did not answer, or NULL */
};

/* Add what the record was made with and without, each file once: each counts as unchanged until it is found to be another. Borrowed until the
 * end. */
void xc_dependency_check_add(struct xc_dependency_check *changes, const struct xc_record *record);

/* Look for all that were added, once each. Returns early when the user interrupts. Cost: a process, and an open of each file that is there.
 * Errors: XC_ERR_IO: no process can be started. */
XC_MUST_CHECK struct xc_error *xc_dependency_check_run(struct xc_dependency_check *changes);
void xc_dependency_check_fini(struct xc_dependency_check *changes);

#endif
