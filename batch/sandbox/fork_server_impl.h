/* fork_server_impl: shared by fork_server.c, the parent's side, and fork_server_process.c. */
#ifndef XC_FORK_SERVER_IMPL_H
#define XC_FORK_SERVER_IMPL_H

#include "batch/sandbox/fork_server.h"

struct xc_fork_server {
	const struct xc_worker_options *options;
	pid_t pid;
	int socket, wants;
	struct xc_broker_statuses *statuses;
	bool taken[XC_BROKER_STATUSES];
	pid_t *left; /* killed processes that have not ended yet */
	size_t left_count, left_capacity;
	bool silent; /* it did not reply to an order */
};

enum xc_order_kind { XC_ORDER_FOLLOW, XC_ORDER_PAIR, XC_ORDER_BROKER, XC_ORDER_BUILDER };

/* A packet. Its descriptors, by kind: user and net; result, worker, broker, scratch; broker, scratch; file, image. */
struct xc_order {
	enum xc_order_kind kind;
	size_t status;   /* index */
	uint32_t number; /* of the request to answer first */
	bool heapless;
	int scratch_error;
	uint64_t room, dev, ino; /* dev and ino are the core's */
	size_t path_size;        /* with its NUL */
	char texts[];            /* path, then file; NUL-terminated */
};

enum { XC_ORDER_MAX = 1 << 16 };

struct xc_order_reply {
	int error; /* errno of the last fork */
	pid_t first, second;
};

/* The fork server's main function; does not return. */
_Noreturn void xc_fork_server_run(const struct xc_worker_options *options, struct xc_broker_statuses *statuses,
				  pid_t parent, int socket, int wants);

#endif
