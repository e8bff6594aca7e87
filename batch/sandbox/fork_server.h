/* fork_server: the process that workers, their brokers and builders are forked from.
 *
 * It is started before a batch looks for cores, so it knows what it was started with (the command line, where files may come from, the symbol
 * store) and nothing else of any core: what a worker that was taken over finds in its memory is of its own core. The fork server forks and does
 * nothing else: it opens nothing, so it never waits. An order that it does not answer in XC_WORKER_ANSWER_SECONDS fails, and so do all behind it; a
 * user who interrupts waits for a moment only. What it forks are children of who started it, and end with that. */
#ifndef XC_FORK_SERVER_H
#define XC_FORK_SERVER_H

#include <sys/types.h>

#include "batch/sandbox/broker_status.h"
#include "batch/input/input.h"
#include "batch/sandbox/worker_options.h"

struct xc_fork_server;

/* Start one. The options are those of all its workers, as they are now but for `heapless`, `room` and `last_try`; borrowed until the end.
 * Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_fork_server_start(const struct xc_worker_options *options,
						    struct xc_fork_server **warden_out);

/* Ends it; NULL is fine. What it has forked is the caller's to end, before. */
void xc_fork_server_end(struct xc_fork_server *server);

/* Workers are to enter these name spaces, from now on. */
void xc_fork_server_use_probe(struct xc_fork_server *server, const struct xc_sandbox_probe *probe);

/* A status for a broker, zero; NULL: all are taken. */
struct xc_broker_status *xc_fork_server_take_status(struct xc_fork_server *server);
void xc_fork_server_dependencies(const struct xc_fork_server *server, const struct xc_broker_status *status,
				 struct xc_file_dependency_list *list);
void xc_fork_server_free_status(struct xc_fork_server *server, struct xc_broker_status *status);

/* Places that did not answer may do so now. For when there are no workers. */
void xc_fork_server_retry_places(struct xc_fork_server *server);

/* A broker and a worker; all descriptors stay the caller's. */
struct xc_fork_server_pair {
	const struct xc_input *input;
	const struct xc_worker_options *options; /* of which `heapless` and `room` count */
	struct xc_broker_status *status;
	int result, worker, broker;   /* the pipe of the record, the two ends of the broker's socket */
	int scratch, scratch_error;   /* as the broker's */
	pid_t broker_pid, worker_pid; /* out; 0: there is none */
};

/* Errors: XC_ERR_IO; there may be a broker then. */
XC_MUST_CHECK struct xc_error *xc_fork_server_fork(struct xc_fork_server *server, struct xc_fork_server_pair *pair);

/* What the status's broker is doing counts as given up: another one, into broker_pid, takes its place, which is to be killed by then. What
 * it has been doing since this time did not answer; something newer did not get the time to. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_fork_server_replace(struct xc_fork_server *server, struct xc_fork_server_pair *pair,
						      uint64_t since);

/* A builder, of a file into another one (builder.h). */
XC_MUST_CHECK struct xc_error *xc_fork_server_build(struct xc_fork_server *server, int file, int image, pid_t *pid_out);

/* Where brokers say what the cache lacks: to poll; and one such file, -1 when there is none. */
int xc_fork_server_wants(const struct xc_fork_server *server);
enum { XC_FORK_SERVER_NAME = 40 };
int xc_fork_server_wanted(struct xc_fork_server *server, char name[XC_FORK_SERVER_NAME]);

/* Has a child ended that was killed, or does it in a moment? It is not waited for. False, too, when that cannot be known. */
bool xc_fork_server_has_ended(pid_t pid);

/* Wait for a process that was killed, or is about to end; for one that does not, since the kernel keeps it waiting, no longer than a moment:
 * it is waited for when it has ended. Its status, or 0. */
int xc_fork_server_reap(struct xc_fork_server *server, pid_t pid);

#endif
