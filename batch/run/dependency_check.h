/* dependency_check: which files that finished records depend on (file_dependency.h) have appeared, vanished or been
 * replaced since.
 *
 * Cores name these files, and opening one may never return (broker_status.h). So another process opens them; a file
 * that does not respond counts as unchanged. */
#ifndef XC_DEPENDENCY_CHECK_H
#define XC_DEPENDENCY_CHECK_H

#include "batch/record/file_dependency.h"
#include "batch/sandbox/worker.h"

struct xc_dependency_check {
	const struct xc_worker_options *worker;
	struct xc_file_dependency **files; /* from xc_dependency_check_add */
	size_t count, capacity;
	const struct xc_file_dependency *silent; /* out: the first file that did not respond, or NULL */
};

/* Adds the record's dependencies, each file once. A file counts as unchanged until found otherwise. Borrowed until the
 * end. */
void xc_dependency_check_add(struct xc_dependency_check *check, const struct xc_record *record);

/* Checks all added files, each once. Returns early on an interrupt. Cost: a process, and an open for each existing
 * file. Errors: XC_ERR_IO: no process can be started. */
XC_MUST_CHECK struct xc_error *xc_dependency_check_run(struct xc_dependency_check *check);
void xc_dependency_check_fini(struct xc_dependency_check *check);

#endif
