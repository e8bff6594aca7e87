/* fork_server: the process from which workers, brokers and builders are forked.
 *
 * It starts before a batch looks for cores. So it knows its command line, the places for files and the symbol store,
 * but nothing about any core: the memory of a compromised worker holds data of its own core only. It does nothing but
 * fork. It opens no file, so it never blocks on one. If it does not reply to an order within XC_WORKER_ANSWER_SECONDS,
 * that order and all later ones fail; after an interrupt by the user, the wait is short. The forked processes are
 * children of the fork server's parent, and end with it. */
#ifndef XC_FORK_SERVER_H
#define XC_FORK_SERVER_H

#include <sys/types.h>

#include "batch/sandbox/broker_status.h"
#include "batch/input/input.h"
#include "batch/sandbox/worker_options.h"

struct xc_fork_server;

/* Starts the process. The options are those of all its workers, as they are now, except `heapless`, `room` and
 * `last_try`; borrowed until xc_fork_server_end. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_fork_server_start(const struct xc_worker_options *options,
						    struct xc_fork_server **server_out);

/* Ends it; NULL is fine. The caller first ends the processes that it forked. */
void xc_fork_server_end(struct xc_fork_server *server);

/* From now on, workers enter these name spaces. */
void xc_fork_server_use_probe(struct xc_fork_server *server, const struct xc_sandbox_probe *probe);

/* A zeroed status for a broker; NULL: all are in use. */
struct xc_broker_status *xc_fork_server_take_status(struct xc_fork_server *server);
void xc_fork_server_dependencies(const struct xc_fork_server *server, const struct xc_broker_status *status,
				 struct xc_file_dependency_list *list);
void xc_fork_server_free_status(struct xc_fork_server *server, struct xc_broker_status *status);

/* Forgets which places did not respond. Only while there are no workers. */
void xc_fork_server_retry_places(struct xc_fork_server *server);

/* A broker and a worker; all descriptors remain the caller's. */
struct xc_fork_server_pair {
	const struct xc_input *input;
	const struct xc_worker_options *options; /* only `heapless` and `room` are used */
	struct xc_broker_status *status;
	int result, worker, broker;   /* the record's pipe, the two ends of the broker's socket */
	int scratch, scratch_error;   /* for the broker (broker.h) */
	pid_t broker_pid, worker_pid; /* out; 0: none */
};

/* Errors: XC_ERR_IO; a broker may exist even then. */
XC_MUST_CHECK struct xc_error *xc_fork_server_fork(struct xc_fork_server *server, struct xc_fork_server_pair *pair);

/* Gives up the current request of the status's broker and starts a replacement, stored in broker_pid. The caller has
 * killed the old broker. If the request began at `since`, its file counts as unresponsive; a newer request had no time
 * to complete. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_fork_server_replace(struct xc_fork_server *server, struct xc_fork_server_pair *pair,
						      uint64_t since);

/* Forks a builder, from one file to another (builder.h). */
XC_MUST_CHECK struct xc_error *xc_fork_server_build(struct xc_fork_server *server, int file, int image, pid_t *pid_out);

/* The socket on which brokers request images for the cache, for polling; and one requested file, -1 when there is
 * none. */
int xc_fork_server_wants(const struct xc_fork_server *server);
enum { XC_FORK_SERVER_NAME = 40 };
int xc_fork_server_wanted(struct xc_fork_server *server, char name[XC_FORK_SERVER_NAME]);

/* Has a killed child ended, or does it end within a moment? Does not reap it. Also false when this cannot be
 * determined. */
bool xc_fork_server_has_ended(pid_t pid);

/* Waits for a process that was killed or is about to end. If the kernel keeps the process from ending, the wait is
 * brief, and the process is reaped later. Returns its exit status, or 0. */
int xc_fork_server_reap(struct xc_fork_server *server, pid_t pid);

#endif
