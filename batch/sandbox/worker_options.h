/* worker_options: the options that all workers of a batch share, and the limits derived from them. */
#ifndef XC_WORKER_OPTIONS_H
#define XC_WORKER_OPTIONS_H

#include <signal.h>

#include "core/process/finder.h"
#include "batch/sandbox/worker_sandbox.h"

struct xc_sandbox_probe;
struct xc_fork_server;

/* Seconds that a process which reads no core may take to respond. A stopped process does not respond at all. */
enum { XC_WORKER_ANSWER_SECONDS = 30 };

struct xc_worker_options {
	const struct xc_finder *finder; /* where modules' files may come from; opened by the parent */
	bool host_files;                /* use the host's own files where there is no sysroot */
	bool redact;
	const char *heapless;                 /* why the heap is skipped, for the record's note; NULL: it is not */
	unsigned seconds;                     /* wall-clock time; 0: 60 */
	uint64_t memory;                      /* bytes of data; 0: 2 GiB */
	uint64_t max_core_size;               /* bytes after inflating; 0: 32 GiB */
	uint64_t room;                        /* bytes of TMPDIR's disk for an inflated core; 0: all of it */
	bool last_try;                        /* claims about its surroundings are no longer believed */
	const struct xc_sandbox_probe *probe; /* name spaces for workers to enter (sandbox_probe.h); NULL: none */
	struct xc_fork_server *fork_server;   /* the process that forks them (fork_server.h) */
	const volatile sig_atomic_t *stopped; /* becomes true when the user interrupts; may be NULL */
};

/* Has the user interrupted? */
bool xc_worker_options_stopped(const struct xc_worker_options *options);

/* The effective limits: those of the options; by default 60 seconds, 2 GiB and 32 GiB. */
unsigned xc_worker_options_seconds(const struct xc_worker_options *options);
uint64_t xc_worker_options_memory(const struct xc_worker_options *options);
uint64_t xc_worker_options_core_size(const struct xc_worker_options *options);

/* Nanoseconds that opening a file may take before the file counts as absent. */
uint64_t xc_worker_options_patience(const struct xc_worker_options *options);

/* The sandbox for these options. */
struct xc_worker_sandbox xc_worker_options_sandbox(const struct xc_worker_options *options);

#endif
