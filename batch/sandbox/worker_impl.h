/* worker_impl: what worker.c and worker_outcome.c share. */
#ifndef XC_WORKER_IMPL_H
#define XC_WORKER_IMPL_H

#include "core/base/text.h"
#include "batch/sandbox/fork_server.h"
#include "batch/sandbox/worker.h"

struct xc_worker {
	const struct xc_input *input;
	struct xc_fork_server *fork_server;
	struct xc_fork_server_pair pair; /* both processes, and this side's descriptors of what they are forked with */
	int result, process;
	uint64_t deadline_ns, patience_ns; /* the latter with what is opened for it */
	struct xc_text text;               /* what came over the pipe */
	bool too_much, late, ended;
	bool stuck; /* it was ended, and does not end: the kernel keeps it waiting */
	bool last_try;
	const char *heapless;     /* as in its options */
	uint64_t room, file_size; /* that it was given: of TMPDIR's disk (0: all), of a file that it writes */
	int status;
	int trouble;      /* errno of what kept it from its work and is not of its core; 0: nothing */
	const char *what; /* it was needed for */
};

/* Make a file without a name where cores are inflated to; -1 with errno set. */
int xc_worker_scratch(void);

/* Of one that has ended: what its temporary file lacked, as far as this process sees it, too, is its trouble. */
void xc_worker_check_room(struct xc_worker *worker);

/* The record of one that is done, which stays as it is. */
struct xc_record *xc_worker_outcome(const struct xc_worker *worker, struct xc_arena *arena);

#endif
