/* broker: opens files for a worker, which cannot open any itself. The worker cannot change the broker's rules.
 *
 * Each worker has a broker process of its own. It has read no core. An open may never return (broker_status.h); then
 * only the broker hangs. A request is one packet on a socket (broker_client.h); its answer is a packet with a
 * descriptor. A worker that breaks the rules or asks for too much gets no more answers and is ended. The broker opens,
 * for reading:
 *  - the worker's core;
 *  - regular files with an ELF header below the roots that the user gave (the host's "/" too, unless it is excluded),
 *    but no cores and nothing that the kernel synthesises;
 *  - debug information in the cache;
 *  - one unlinked temporary file to inflate into, which is also writable.
 * So a compromised worker can read programs and libraries, and nothing else. */
#ifndef XC_BROKER_H
#define XC_BROKER_H

#include "core/process/finder.h"
#include "batch/sandbox/broker_status.h"
#include "batch/input/input.h"

enum {
	XC_BROKER_SEEN = 64,
	XC_BROKER_NAME = 40,
	XC_BROKER_REQUESTS = 1 << 16, /* per worker: four for each module that a process may have */
};

/* A file that was opened, and the name of its inflated image in the cache. */
struct xc_broker_seen {
	char *root, *path; /* root may be NULL */
	char name[XC_BROKER_NAME];
};

struct xc_broker {
	const struct xc_finder *finder;  /* its roots are the permitted ones */
	bool host_files;                 /* "/" is permitted when there is no sysroot */
	const struct xc_input *core;     /* the worker's core; NULL: none, or already given */
	int scratch;                     /* temporary file to inflate into; -1: there is none */
	int scratch_error;               /* errno of the failure to create `scratch` */
	int wants;                       /* socket for requests to build an image for the cache (builder.h); -1: none */
	struct xc_broker_status *status; /* where it publishes its activity */
	struct xc_broker_statuses *statuses;        /* unresponsive places and the dependency log; or NULL */
	unsigned requests;                          /* served so far; bounded */
	struct xc_broker_seen seen[XC_BROKER_SEEN]; /* the most recent ones, a ring; unused entries are zero */
	size_t seen_count;
};

/* Frees the broker's memory. Its descriptors belong to the caller. */
void xc_broker_fini(struct xc_broker *broker);

/* Answers one request if one is waiting on the socket. False when the other side is gone or broke the rules. */
bool xc_broker_serve(struct xc_broker *broker, int socket);

/* Serves until the other side is gone, then ends this process. A replacement for a broker that was given up first
 * answers the request with this number, unless it is 0, with ETIMEDOUT: the file did not respond. */
_Noreturn void xc_broker_live(struct xc_broker *broker, int socket, uint32_t number);

/* Would a worker now be given another file there, a file where there was none, or none any more? The answer is looked
 * up once and kept in the dependency. If it cannot be determined, the answer is no. */
bool xc_broker_changed(const struct xc_broker *broker, struct xc_file_dependency *dependency);

#endif
