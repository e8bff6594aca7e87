/* worker_options: what all workers of a batch have in common, with the limits that follow from it. */
#ifndef XC_WORKER_OPTIONS_H
#define XC_WORKER_OPTIONS_H

#include <signal.h>

#include "core/process/finder.h"
#include "batch/sandbox/worker_sandbox.h"

struct xc_sandbox_probe;
struct xc_fork_server;

/* Seconds that a process which reads no core may take to answer. One that was stopped does not answer at all. */
enum { XC_WORKER_ANSWER_SECONDS = 30 };

struct xc_worker_options {
	const struct xc_finder *finder; /* where files of modules may come from; opened by the parent */
	bool host_files;                /* the host's own files serve where no sysroot is given */
	bool redact;
	const char *heapless;   /* why its heap is left out: the record's note; NULL: it is not */
	unsigned seconds;       /* of wall-clock time; 0: 60 */
	uint64_t memory;        /* bytes of data; 0: 2 GiB */
	uint64_t max_core_size; /* bytes after inflating; 0: 32 GiB */
	uint64_t room;          /* bytes of TMPDIR's disk that an inflated core may take; 0: all that it has */
	bool last_try;          /* what it says of its surroundings is not believed any more */
	const struct xc_sandbox_probe *probe; /* what it found for workers to enter (sandbox_probe.h); NULL: nothing */
	struct xc_fork_server *fork_server;   /* what they are forked from (fork_server.h) */
	const volatile sig_atomic_t *stopped; /* becomes true when the user interrupts; may be NULL */
};

/* Has the user interrupted? */
bool xc_worker_options_stopped(const struct xc_worker_options *options);

/* The limits that hold: the options', or where they give none 60 seconds, 2 GiB and 32 GiB. */
unsigned xc_worker_options_seconds(const struct xc_worker_options *options);
uint64_t xc_worker_options_memory(const struct xc_worker_options *options);
uint64_t xc_worker_options_core_size(const struct xc_worker_options *options);

/* Nanoseconds that an open of a file may take, before it counts as absent. */
uint64_t xc_worker_options_patience(const struct xc_worker_options *options);

/* The sandbox that the options give. */
struct xc_worker_sandbox xc_worker_options_sandbox(const struct xc_worker_options *options);

#endif
