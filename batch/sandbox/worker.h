/* worker: examines one core in one sandboxed process, and returns its record over a pipe.
 *
 * The worker is forked from a process that has read no core (fork_server.h), and erases its environment. It has a pipe
 * for its record and a socket. It can open no files, create no processes or threads, and reach no network
 * (worker_sandbox.h). A broker (broker.h) opens its core and other files for it. The only file it may write is an
 * unnamed temporary one. Its input may compromise it: so its record is hostile text of limited size, and its death,
 * time and memory use are results. The worker redacts its own record; a compromised one may skip that, but it knows of
 * no other core. A file that does not respond (broker_status.h) is absent, and the record is then not put into the
 * checkpoint. The caller drains all workers at once (batch.h).
 *
 * A failure that is not caused by the core (no disk space, no descriptors, no permission, a kill from outside) is not a
 * result: the worker was hindered. The worker's own claim to that effect is believed until the last try: otherwise a
 * core that compromises its worker could always remain unexamined. */
#ifndef XC_WORKER_H
#define XC_WORKER_H

#include "batch/input/input.h"
#include "batch/record/record.h"
#include "batch/sandbox/worker_options.h"

struct xc_worker;

/* Starts a worker. Errors: XC_ERR_IO (no process, no socket): caused by the environment, not by the core. A core that
 * cannot be opened gives a record. */
XC_MUST_CHECK struct xc_error *xc_worker_start(const struct xc_input *input, const struct xc_worker_options *options,
					       struct xc_worker **worker_out);

/* The descriptors to poll for reading; returns their number. */
enum { XC_WORKER_DESCRIPTORS = 2 };
size_t xc_worker_descriptors(const struct xc_worker *worker, int descriptors[XC_WORKER_DESCRIPTORS]);

/* The time (CLOCK_MONOTONIC, nanoseconds) by which it must be served whatever its descriptors have: the end of its time
 * limit, or of the limit for an open. */
uint64_t xc_worker_deadline(const struct xc_worker *worker);

/* Reads its descriptors without blocking, and ends the worker when its time is over. True once the worker is done and
 * its record can be taken. */
bool xc_worker_serve(struct xc_worker *worker);

/* Of a finished worker: why it should be retried without the heap (heapless): memory ran out, or it died of a fault.
 * NULL: it should not. */
const char *xc_worker_excess(const struct xc_worker *worker);

/* Of a finished worker: was it hindered? Then another try may succeed. */
bool xc_worker_hindered(const struct xc_worker *worker);

/* The record of a finished worker, allocated in the arena; never NULL; `unlooked` if the worker was hindered. Frees the
 * worker. */
struct xc_record *xc_worker_finish(struct xc_worker *worker, struct xc_arena *arena);

/* Ends it immediately and frees it. */
void xc_worker_kill(struct xc_worker *worker);

#endif
