/* worker: one core in one sandboxed process, and its record back over a pipe.
 *
 * The worker is forked from a process that has read no core (fork_server.h), and forgets its environment. It has a pipe for its record and a
 * socket; it can neither open files, nor make processes or threads, nor reach a network (worker_sandbox.h); its core and other files are opened for
 * it by a broker (broker.h): one that has no name, in a temporary directory, it may write. It may be taken over by what it reads: its
 * record is hostile text, capped, and its death, time and memory are results. It redacts itself, so one that was taken over may leave that
 * undone, but it knows of no other core. A file that does not answer (broker_status.h) is absent, and the record is not for the checkpoint. The caller
 * drains all workers at once (batch.h).
 *
 * What is not of the core (no room, no descriptors, no right, a kill from outside) is no result: such a worker was hindered. That it says so
 * itself is believed until the last try: a core that takes its worker over could else always be one that nobody could look at. */
#ifndef XC_WORKER_H
#define XC_WORKER_H

#include "batch/input/input.h"
#include "batch/record/record.h"
#include "batch/sandbox/worker_options.h"

struct xc_worker;

/* Start one. Errors: XC_ERR_IO (no process, no socket): the environment's, not the core's. A file that cannot be opened is a record. */
XC_MUST_CHECK struct xc_error *xc_worker_start(const struct xc_input *input, const struct xc_worker_options *options,
					       struct xc_worker **worker_out);

/* Descriptors to poll for reading; returns how many. */
enum { XC_WORKER_DESCRIPTORS = 2 };
size_t xc_worker_descriptors(const struct xc_worker *worker, int descriptors[XC_WORKER_DESCRIPTORS]);

/* Nanoseconds of CLOCK_MONOTONIC at which it must be served, whatever its descriptors have: its time is over, or that of what is opened for
 * it. */
uint64_t xc_worker_deadline(const struct xc_worker *worker);

/* Serve what its descriptors have without blocking, and end it when its time is over. True once it is done: then its record can be taken. */
bool xc_worker_serve(struct xc_worker *worker);

/* Of one that is done: why it could do with less, its heap left out (heapless): its memory ran out, or it died of a fault. NULL: it could
 * not. */
const char *xc_worker_excess(const struct xc_worker *worker);

/* Of one that is done: was it hindered? Then another try may do better. */
bool xc_worker_hindered(const struct xc_worker *worker);

/* The record, into the arena, when it is done; never NULL; of one that was hindered it is `unlooked`. Frees the worker. */
struct xc_record *xc_worker_finish(struct xc_worker *worker, struct xc_arena *arena);

/* End it now and free it. */
void xc_worker_kill(struct xc_worker *worker);

#endif
