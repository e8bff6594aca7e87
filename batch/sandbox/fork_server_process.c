/* fork_server_process: code that runs in the fork server, and the first steps of the processes that it forks.
 *
 * A plain fork would make them children of the fork server. CLONE_PARENT makes them children of its parent, which waits
 * for them and whose end ends them. libc has no function for this. A raw clone is safe here: the fork server has one
 * thread, and nothing open but its sockets. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "batch/sandbox/broker.h"
#include "batch/sandbox/builder.h"
#include "batch/sandbox/worker_child.h"
#include "batch/util/fd_passing.h"
#include "batch/sandbox/sandbox_probe.h"
#include "batch/sandbox/fork_server_impl.h"

enum { ORDERS = XC_WORKER_CHILD_FIRST, WANTS };

struct life {
	struct xc_worker_options options;
	struct xc_broker_statuses *statuses;
	pid_t parent; /* of all processes, the fork server included */
	struct xc_sandbox_probe probe;
	int descriptors[XC_FD_PASSING_MOST]; /* received with the order */
	const struct xc_order *order;
};

static pid_t fork_sibling(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* ---- forked processes ---- */

static struct xc_input input_of(const struct xc_order *order)
{
	return (struct xc_input){
		.path = order->texts, .file = order->texts + order->path_size, .dev = order->dev, .ino = order->ino};
}

_Noreturn static void be_broker(const struct life *life, int socket, int scratch)
{
	const struct xc_order *order = life->order;
	const struct xc_input input = input_of(order);
	const int descriptors[] = {socket, WANTS, scratch};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != life->parent || !xc_worker_child_shed(descriptors, XC_COUNT(descriptors) - (scratch < 0)))
		_exit(XC_WORKER_CHILD_BROKEN);
	struct xc_broker broker = {.finder = life->options.finder,
				   .host_files = life->options.host_files,
				   .core = order->kind == XC_ORDER_PAIR ? &input : NULL,
				   .scratch = scratch < 0 ? -1 : XC_WORKER_CHILD_FIRST + 2,
				   .scratch_error = order->scratch_error,
				   .wants = XC_WORKER_CHILD_FIRST + 1,
				   .status = &life->statuses->statuses[order->status],
				   .statuses = life->statuses};
	xc_broker_live(&broker, XC_WORKER_CHILD_FIRST, order->number);
}

_Noreturn static void be_worker(struct life *life)
{
	const struct xc_input input = input_of(life->order);
	const struct xc_worker_child child = {&input, &life->options, life->parent, life->descriptors[0],
					      life->descriptors[1]};
	xc_broker_status_unmap(life->statuses);
	life->options.heapless = life->order->heapless ? "" : NULL;
	life->options.room = life->order->room;
	xc_worker_child_run(&child);
}

_Noreturn static void be_builder(const struct life *life)
{
	xc_broker_status_unmap(life->statuses);
	xc_builder_live(&life->options, life->parent, life->descriptors[0], life->descriptors[1]);
}

/* ---- orders ---- */

static struct xc_order_reply fork_broker(const struct life *life, int socket, int scratch)
{
	struct xc_order_reply reply = {.first = fork_sibling()};
	if (reply.first == 0)
		be_broker(life, socket, scratch);
	if (reply.first < 0)
		reply = (struct xc_order_reply){.error = errno};
	return reply;
}

static struct xc_order_reply fork_pair(struct life *life)
{
	struct xc_order_reply reply = fork_broker(life, life->descriptors[2], life->descriptors[3]);
	if (reply.error)
		return reply;
	reply.second = fork_sibling();
	if (reply.second == 0)
		be_worker(life);
	if (reply.second < 0) {
		reply.error = errno;
		reply.second = 0;
	}
	return reply;
}

static struct xc_order_reply fork_builder(const struct life *life)
{
	struct xc_order_reply reply = {.first = fork_sibling()};
	if (reply.first == 0)
		be_builder(life);
	if (reply.first < 0)
		reply = (struct xc_order_reply){.error = errno};
	return reply;
}

static void follow(struct life *life)
{
	life->probe = (struct xc_sandbox_probe){life->descriptors[0], life->descriptors[1]};
	life->options.probe = &life->probe;
	life->descriptors[0] = life->descriptors[1] = -1; /* they stay open */
}

static struct xc_order_reply obey(struct life *life)
{
	switch (life->order->kind) {
	case XC_ORDER_PAIR:
		return fork_pair(life);
	case XC_ORDER_BROKER:
		return fork_broker(life, life->descriptors[0], life->descriptors[1]);
	case XC_ORDER_BUILDER:
		return fork_builder(life);
	case XC_ORDER_FOLLOW:
		follow(life);
		break;
	}
	return (struct xc_order_reply){.error = 0};
}

/* Closes everything that belongs to the parent: its output, whose reader waits for end of file, and its locks. A
 * terminal's ^C must not end the fork server while the parent still needs it. */
static void settle(struct life *life, int socket, int wants)
{
	const int descriptors[] = {socket, wants};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != life->parent || !xc_worker_child_shed(descriptors, XC_COUNT(descriptors)))
		_exit(XC_WORKER_CHILD_BROKEN);
	setsid();
	xc_shared_status_detach();
}

_Noreturn void xc_fork_server_run(const struct xc_worker_options *options, struct xc_broker_statuses *statuses,
				  pid_t parent, int socket, int wants)
{
	static _Alignas(struct xc_order) char packet[XC_ORDER_MAX];
	struct life life = {.options = *options, .statuses = statuses, .parent = parent, .probe = {-1, -1}};
	life.options.probe = NULL;
	life.order = (const struct xc_order *)packet;
	settle(&life, socket, wants);
	ssize_t size;
	while ((size = xc_fd_passing_receive(ORDERS, packet, sizeof packet, life.descriptors, XC_FD_PASSING_MOST, 0)) >
	       0) {
		const struct xc_order_reply reply = obey(&life);
		memset(packet, 0, (size_t)size); /* the next worker must not learn the names of other cores */
		for (size_t i = 0; i < XC_FD_PASSING_MOST; i++)
			if (life.descriptors[i] >= 0)
				close(life.descriptors[i]);
		if (xc_fd_passing_send(ORDERS, &reply, sizeof reply, NULL, 0, 0) < 0)
			break;
	}
	_exit(0);
}
