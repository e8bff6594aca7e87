/* warden: the process that workers, their brokers and builders are forked from.
 *
 * It is started before a batch looks for cores, so it knows what it was started with (the command line, where files may come from, the symbol
 * store) and nothing else of any core: what a worker that was taken over finds in its memory is of its own core. The warden forks and does
 * nothing else: it opens nothing, so it never waits. An order that it does not answer in XC_WORKER_ANSWER_SECONDS fails, and so do all behind it; a
 * user who interrupts waits for a moment only. What it forks are children of who started it, and end with that. */
#ifndef XC_WARDEN_H
#define XC_WARDEN_H

#include <sys/types.h>

#include "batch/sandbox/desk.h"
#include "batch/input/input.h"
#include "batch/sandbox/worker_options.h"

struct xc_warden;

/* Start one. The options are those of all its workers, as they are now but for `heapless`, `room` and `last_try`; borrowed until the end.
 * Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_warden_start(const struct xc_worker_options *options, struct xc_warden **warden_out);

/* Ends it; NULL is fine. What it has forked is the caller's to end, before. */
void xc_warden_end(struct xc_warden *warden);

/* Workers are to enter these name spaces, from now on. */
void xc_warden_follow(struct xc_warden *warden, const struct xc_scout *scout);

/* A desk for a broker, zero; NULL: all are taken. */
struct xc_desk *xc_warden_desk(struct xc_warden *warden);
void xc_warden_sought(const struct xc_warden *warden, const struct xc_desk *desk, struct xc_sought_list *list);
void xc_warden_free_desk(struct xc_warden *warden, struct xc_desk *desk);

/* Places that did not answer may do so now. For when there are no workers. */
void xc_warden_ask_again(struct xc_warden *warden);

/* A broker and a worker; all descriptors stay the caller's. */
struct xc_warden_pair {
	const struct xc_input *input;
	const struct xc_worker_options *options; /* of which `heapless` and `room` count */
	struct xc_desk *desk;
	int result, worker, broker;   /* the pipe of the record, the two ends of the broker's socket */
	int scratch, scratch_error;   /* as the broker's */
	pid_t broker_pid, worker_pid; /* out; 0: there is none */
};

/* Errors: XC_ERR_IO; there may be a broker then. */
XC_MUST_CHECK struct xc_error *xc_warden_fork(struct xc_warden *warden, struct xc_warden_pair *pair);

/* What the desk's broker is doing counts as given up: another one, into broker_pid, takes its place, which is to be killed by then. What
 * it has been doing since this time did not answer; something newer did not get the time to. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_warden_replace(struct xc_warden *warden, struct xc_warden_pair *pair, uint64_t since);

/* A builder, of a file into another one (builder.h). */
XC_MUST_CHECK struct xc_error *xc_warden_build(struct xc_warden *warden, int file, int image, pid_t *pid_out);

/* Where brokers say what the cache lacks: to poll; and one such file, -1 when there is none. */
int xc_warden_wants(const struct xc_warden *warden);
enum { XC_WARDEN_NAME = 40 };
int xc_warden_wanted(struct xc_warden *warden, char name[XC_WARDEN_NAME]);

/* Has a child ended that was killed, or does it in a moment? It is not waited for. False, too, when that cannot be known. */
bool xc_warden_ends(pid_t pid);

/* Wait for a process that was killed, or is about to end; for one that does not, since the kernel keeps it waiting, no longer than a moment:
 * it is waited for when it has ended. Its status, or 0. */
int xc_warden_leave(struct xc_warden *warden, pid_t pid);

#endif
