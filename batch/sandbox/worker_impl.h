/* worker_impl: shared by worker.c and worker_outcome.c. */
#ifndef XC_WORKER_IMPL_H
#define XC_WORKER_IMPL_H

#include "core/base/text.h"
#include "batch/sandbox/fork_server.h"
#include "batch/sandbox/worker.h"

struct xc_worker {
	const struct xc_input *input;
	struct xc_fork_server *fork_server;
	struct xc_fork_server_pair pair; /* both processes, and this side's ends of their descriptors */
	int result, process;
	uint64_t deadline_ns, patience_ns; /* time limits: of the worker, of a file that is opened for it */
	struct xc_text text;               /* read from the pipe so far */
	bool too_much, late, ended;
	bool stuck; /* it was killed, but the kernel keeps it from ending */
	bool last_try;
	const char *heapless; /* as in the options */
	/* limits it was given: TMPDIR's disk (0: all of it), size of a file that it writes */
	uint64_t room, file_size;
	int status;
	int trouble;      /* errno of a failure that is not the core's; 0: none */
	const char *what; /* what was needed */
};

/* Creates an unnamed file to inflate cores into; -1 with errno set. */
int xc_worker_scratch(void);

/* For a worker that has ended: if its temporary file lacked space, as this process sees it too, notes that as
 * trouble. */
void xc_worker_check_room(struct xc_worker *worker);

/* The record of a finished worker; does not change the worker. */
struct xc_record *xc_worker_outcome(const struct xc_worker *worker, struct xc_arena *arena);

#endif
