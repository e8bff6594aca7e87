/* broker: opens files for a worker that may not, by rules that the worker cannot change.
 *
 * It is a process of its own, one for each worker, that has read no core: opening may never return (broker_status.h), and then only this one waits. A
 * request is one packet on a socket (broker_client.h), its answer a packet with a descriptor. A worker that breaks the rules or asks for too much is
 * answered no more, and ended. Opened are the worker's core; regular files that begin as ELF
 * files do, below the roots that the user gave (the host's "/" too unless it was shut out), but no cores and nothing that the kernel makes up;
 * files that the cache keeps of debug information; and one unlinked file to inflate into.
 * So a worker that was taken over can read programs and libraries, and nothing else; and what it gets is for reading. */
#ifndef XC_BROKER_H
#define XC_BROKER_H

#include "core/process/finder.h"
#include "batch/sandbox/broker_status.h"
#include "batch/input/input.h"

enum {
	XC_BROKER_SEEN = 64,
	XC_BROKER_NAME = 40,
	XC_BROKER_REQUESTS = 1 << 16, /* of one worker; four for each module that a process may have */
};

/* A file that was opened, and what its inflated image is called in the cache. */
struct xc_broker_seen {
	char *root, *path; /* root may be NULL */
	char name[XC_BROKER_NAME];
};

struct xc_broker {
	const struct xc_finder *finder; /* its roots are the allowed ones */
	bool host_files;                /* "/" is one of them when there is no sysroot */
	const struct xc_input *core;    /* the worker's; NULL: it has none, or has had it */
	int scratch;                    /* the file to inflate into; -1: there is none, */
	int scratch_error;              /* by this errno */
	int wants; /* where to say what the cache lacks of files that were opened (builder.h); -1: nowhere */
	struct xc_broker_status *status;            /* what it does is written here */
	struct xc_broker_statuses *statuses;        /* places that do not answer, and what it has looked for; or NULL */
	unsigned requests;                          /* that were served: bounded */
	struct xc_broker_seen seen[XC_BROKER_SEEN]; /* the last ones, in a ring; zero where there is none */
	size_t seen_count;
};

/* Frees what it has. Its descriptors are the caller's. */
void xc_broker_fini(struct xc_broker *broker);

/* Answer one request that waits on the socket; none is fine. False when the other side has gone or broke the rules. */
bool xc_broker_serve(struct xc_broker *broker, int socket);

/* Serve until the other side goes, then end this process. One that takes the place of another, which was given up, first answers the request
 * with this number, if that is not 0: what was asked for did not answer (ETIMEDOUT). */
_Noreturn void xc_broker_live(struct xc_broker *broker, int socket, uint32_t number);

/* Would a worker be given another file there than it was, one where there was none, or none any more? Looked for once: what was found is kept
 * in it. That it cannot be known now is no change. */
bool xc_broker_changed(const struct xc_broker *broker, struct xc_file_dependency *dependency);

#endif
