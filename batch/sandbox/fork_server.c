/* fork_server: the parent's side: sends orders and receives replies, one at a time. */
#include "batch/sandbox/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/util/fd_passing.h"
#include "batch/sandbox/sandbox_probe.h"
#include "batch/sandbox/fork_server_impl.h"

enum { MOMENT_MS = 50 };

/* ---- start and end ---- */

static bool make_sockets(int orders[2], int wants[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders))
		return false;
	if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wants))
		return true;
	close(orders[0]);
	close(orders[1]);
	return false;
}

/* /dev/null becomes the standard streams of every forked process; without it they would exit silently. */
static bool has_null(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC), number = errno;
	if (null >= 0)
		close(null);
	errno = number;
	return null >= 0;
}

static int start(struct xc_fork_server *server, const struct xc_worker_options *options)
{
	int orders[2], wants[2];
	const pid_t parent = getpid();
	if (!(server->statuses = xc_broker_status_map()) || !make_sockets(orders, wants))
		return errno;
	json_object_seed(0); /* reads a device once: workers could not */
	server->pid = fork();
	const int number = errno;
	if (server->pid == 0)
		xc_fork_server_run(options, server->statuses, parent, orders[1], wants[1]);
	close(orders[1]);
	close(wants[1]);
	server->socket = orders[0];
	server->wants = wants[0];
	return server->pid < 0 ? number : 0;
}

struct xc_error *xc_fork_server_start(const struct xc_worker_options *options, struct xc_fork_server **server_out)
{
	if (!has_null())
		return xc_error_hint(xc_error_errno(errno, "/dev/null: no worker can be started without it"),
				     "mount a /dev, or `mknod -m 666 /dev/null c 1 3`");
	struct xc_fork_server *server = xc_alloc(sizeof *server);
	*server = (struct xc_fork_server){.options = options, .socket = -1, .wants = -1};
	const int number = start(server, options);
	if (number) {
		xc_fork_server_end(server);
		return xc_error_errno(number, "starting the process that workers are forked from");
	}
	*server_out = server;
	return NULL;
}

static void reap(struct xc_fork_server *server)
{
	for (size_t i = server->left_count; i-- > 0;)
		if (waitpid(server->left[i], NULL, WNOHANG))
			server->left[i] = server->left[--server->left_count];
}

void xc_fork_server_end(struct xc_fork_server *server)
{
	if (!server)
		return;
	if (server->socket >= 0)
		close(server->socket);
	if (server->wants >= 0)
		close(server->wants);
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
	reap(server);
	free(server->left);
	xc_broker_status_unmap(server->statuses);
	free(server);
}

/* ---- orders ---- */

/* A late reply would be taken for the reply to the next order. So the fork server is ended, and gets no more orders. */
static struct xc_error *given_up(struct xc_fork_server *server, const char *doing)
{
	server->silent = true;
	kill(server->pid, SIGKILL);
	return xc_error_new(XC_ERR_IO, "%s: the process that workers are forked from does not answer: was it stopped?",
			    doing);
}

static struct xc_error *send_order(struct xc_fork_server *server, const struct xc_order *order, size_t size,
				   const int *descriptors, size_t count, struct xc_order_reply *reply)
{
	static const char doing[] = "starting a worker";
	*reply = (struct xc_order_reply){.error = 0};
	if (server->silent)
		return given_up(server, doing);
	if (xc_fd_passing_send(server->socket, order, size, descriptors, count, 0) < 0)
		return xc_error_errno(errno, doing);
	if (!xc_fd_passing_wait(server->socket, XC_WORKER_ANSWER_SECONDS, server->options->stopped))
		return given_up(server, doing);
	const ssize_t came = xc_fd_passing_receive(server->socket, reply, sizeof *reply, NULL, 0, MSG_DONTWAIT);
	if (came != sizeof *reply)
		return xc_error_new(XC_ERR_IO, "%s: the process that workers are forked from has ended", doing);
	return reply->error ? xc_error_errno(reply->error, doing) : NULL;
}

void xc_fork_server_use_probe(struct xc_fork_server *server, const struct xc_sandbox_probe *probe)
{
	const struct xc_order order = {.kind = XC_ORDER_FOLLOW};
	const int descriptors[] = {probe->user, probe->net};
	struct xc_order_reply reply;
	if (probe->user >= 0)
		xc_error_free(send_order(server, &order, sizeof order, descriptors, XC_COUNT(descriptors), &reply));
}

static struct xc_order *order_of(const struct xc_fork_server *server, const struct xc_fork_server_pair *pair,
				 size_t *size_out)
{
	const struct xc_input *input = pair->input;
	const size_t path_size = strlen(input->path) + 1, file_size = strlen(input->file) + 1;
	struct xc_order *order = xc_alloc(sizeof *order + path_size + file_size);
	*order = (struct xc_order){.kind = XC_ORDER_PAIR,
				   .status = (size_t)(pair->status - server->statuses->statuses),
				   .heapless = pair->options->heapless != NULL,
				   .scratch_error = pair->scratch_error,
				   .room = pair->options->room,
				   .dev = input->dev,
				   .ino = input->ino,
				   .path_size = path_size};
	memcpy(order->texts, input->path, path_size);
	memcpy(order->texts + path_size, input->file, file_size);
	*size_out = sizeof *order + path_size + file_size;
	return order;
}

struct xc_error *xc_fork_server_fork(struct xc_fork_server *server, struct xc_fork_server_pair *pair)
{
	const int descriptors[] = {pair->result, pair->worker, pair->broker, pair->scratch};
	struct xc_order_reply reply;
	size_t size;
	xc_auto(xc_freep) struct xc_order *order = order_of(server, pair, &size);
	struct xc_error *err = size <= XC_ORDER_MAX ? send_order(server, order, size, descriptors,
								 XC_COUNT(descriptors) - (pair->scratch < 0), &reply)
						    : xc_error_errno(ENAMETOOLONG, "starting a worker");
	pair->broker_pid = size <= XC_ORDER_MAX ? reply.first : 0;
	pair->worker_pid = size <= XC_ORDER_MAX ? reply.second : 0;
	return err;
}

struct xc_error *xc_fork_server_replace(struct xc_fork_server *server, struct xc_fork_server_pair *pair, uint64_t since)
{
	struct xc_broker_status *status = pair->status;
	const int descriptors[] = {pair->broker, pair->scratch};
	const uint64_t now = atomic_load(&status->since_ns); /* 0: it has answered in the meantime */
	const struct xc_order order = {.kind = XC_ORDER_BROKER,
				       .status = (size_t)(status - server->statuses->statuses),
				       .number = now ? status->number : 0,
				       .scratch_error = pair->scratch_error};
	struct xc_order_reply reply;
	if (now && now == since)
		xc_broker_status_give_up_place(server->statuses, status);
	else if (now)
		xc_broker_status_give_up(status);
	atomic_store(&status->since_ns, 0);
	struct xc_error *err = send_order(server, &order, sizeof order, descriptors,
					  XC_COUNT(descriptors) - (pair->scratch < 0), &reply);
	pair->broker_pid = reply.first;
	return err;
}

struct xc_error *xc_fork_server_build(struct xc_fork_server *server, int file, int image, pid_t *pid_out)
{
	const struct xc_order order = {.kind = XC_ORDER_BUILDER};
	const int descriptors[] = {file, image};
	struct xc_order_reply reply;
	struct xc_error *err = send_order(server, &order, sizeof order, descriptors, XC_COUNT(descriptors), &reply);
	*pid_out = reply.first;
	return err;
}

/* ---- statuses ---- */

struct xc_broker_status *xc_fork_server_take_status(struct xc_fork_server *server)
{
	for (size_t i = 0; i < XC_BROKER_STATUSES; i++)
		if (!server->taken[i]) {
			struct xc_broker_status *status = &server->statuses->statuses[i];
			server->taken[i] = true;
			*status = (struct xc_broker_status){.number = 0};
			return status;
		}
	return NULL;
}

void xc_fork_server_dependencies(const struct xc_fork_server *server, const struct xc_broker_status *status,
				 struct xc_file_dependency_list *list)
{
	xc_broker_status_dependencies(server->statuses, status, list);
}

void xc_fork_server_free_status(struct xc_fork_server *server, struct xc_broker_status *status)
{
	server->taken[status - server->statuses->statuses] = false;
}

void xc_fork_server_retry_places(struct xc_fork_server *server)
{
	atomic_store(&server->statuses->silent_count, 0);
}

/* ---- requests to build an image ---- */

int xc_fork_server_wants(const struct xc_fork_server *server)
{
	return server->wants;
}

int xc_fork_server_wanted(struct xc_fork_server *server, char name[XC_FORK_SERVER_NAME])
{
	int fd;
	const ssize_t size = xc_fd_passing_receive(server->wants, name, XC_FORK_SERVER_NAME, &fd, 1, MSG_DONTWAIT);
	if (fd >= 0 && (size <= 0 || memchr(name, 0, (size_t)size) == NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- reaping ---- */

bool xc_fork_server_has_ended(pid_t pid)
{
	struct pollfd polled = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	if (polled.fd < 0)
		return errno == ESRCH;
	const bool ended = poll(&polled, 1, MOMENT_MS) > 0;
	close(polled.fd);
	return ended;
}

int xc_fork_server_reap(struct xc_fork_server *server, pid_t pid)
{
	int status = 0;
	reap(server);
	const pid_t ended = waitpid(pid, &status, WNOHANG);
	if (ended)
		return ended == pid ? status : 0;
	if (xc_fork_server_has_ended(pid))
		return waitpid(pid, &status, 0) == pid ? status : 0;
	server->left = xc_grow(server->left, server->left_count, &server->left_capacity, sizeof *server->left);
	server->left[server->left_count++] = pid;
	return 0;
}
