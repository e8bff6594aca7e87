/* warden: the side of who starts it: orders and their answers, one at a time. */
#include "batch/sandbox/warden.h"

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

#include "batch/util/passing.h"
#include "batch/sandbox/scout.h"
#include "batch/sandbox/warden_impl.h"

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

/* It is the standard streams of all that are forked: they would end without a word. */
static bool has_null(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC), number = errno;
	if (null >= 0)
		close(null);
	errno = number;
	return null >= 0;
}

static int start(struct xc_warden *warden, const struct xc_worker_options *options)
{
	int orders[2], wants[2];
	const pid_t parent = getpid();
	if (!(warden->desks = xc_desks_map()) || !make_sockets(orders, wants))
		return errno;
	json_object_seed(0); /* reads a device, once: workers could not */
	warden->pid = fork();
	const int number = errno;
	if (warden->pid == 0)
		xc_warden_live(options, warden->desks, parent, orders[1], wants[1]);
	close(orders[1]);
	close(wants[1]);
	warden->socket = orders[0];
	warden->wants = wants[0];
	return warden->pid < 0 ? number : 0;
}

struct xc_error *xc_warden_start(const struct xc_worker_options *options, struct xc_warden **warden_out)
{
	if (!has_null())
		return xc_error_hint(xc_error_errno(errno, "/dev/null: no worker can be started without it"),
				     "mount a /dev, or `mknod -m 666 /dev/null c 1 3`");
	struct xc_warden *warden = xc_alloc(sizeof *warden);
	*warden = (struct xc_warden){.options = options, .socket = -1, .wants = -1};
	const int number = start(warden, options);
	if (number) {
		xc_warden_end(warden);
		return xc_error_errno(number, "starting the process that workers are forked from");
	}
	*warden_out = warden;
	return NULL;
}

static void reap(struct xc_warden *warden)
{
	for (size_t i = warden->left_count; i-- > 0;)
		if (waitpid(warden->left[i], NULL, WNOHANG))
			warden->left[i] = warden->left[--warden->left_count];
}

void xc_warden_end(struct xc_warden *warden)
{
	if (!warden)
		return;
	if (warden->socket >= 0)
		close(warden->socket);
	if (warden->wants >= 0)
		close(warden->wants);
	if (warden->pid > 0) {
		kill(warden->pid, SIGKILL);
		waitpid(warden->pid, NULL, 0);
	}
	reap(warden);
	free(warden->left);
	xc_desks_unmap(warden->desks);
	free(warden);
}

/* ---- orders ---- */

/* It would answer this order in the place of the next one: it is ended, and nothing is asked of it any more. */
static struct xc_error *given_up(struct xc_warden *warden, const char *doing)
{
	warden->silent = true;
	kill(warden->pid, SIGKILL);
	return xc_error_new(XC_ERR_IO, "%s: the process that workers are forked from does not answer: was it stopped?",
			    doing);
}

static struct xc_error *give(struct xc_warden *warden, const struct xc_order *order, size_t size,
			     const int *descriptors, size_t count, struct xc_order_reply *reply)
{
	static const char doing[] = "starting a worker";
	*reply = (struct xc_order_reply){.error = 0};
	if (warden->silent)
		return given_up(warden, doing);
	if (xc_passing_send(warden->socket, order, size, descriptors, count, 0) < 0)
		return xc_error_errno(errno, doing);
	if (!xc_passing_wait(warden->socket, XC_WORKER_ANSWER_SECONDS, warden->options->stopped))
		return given_up(warden, doing);
	const ssize_t came = xc_passing_receive(warden->socket, reply, sizeof *reply, NULL, 0, MSG_DONTWAIT);
	if (came != sizeof *reply)
		return xc_error_new(XC_ERR_IO, "%s: the process that workers are forked from has ended", doing);
	return reply->error ? xc_error_errno(reply->error, doing) : NULL;
}

void xc_warden_follow(struct xc_warden *warden, const struct xc_scout *scout)
{
	const struct xc_order order = {.kind = XC_ORDER_FOLLOW};
	const int descriptors[] = {scout->user, scout->net};
	struct xc_order_reply reply;
	if (scout->user >= 0)
		xc_error_free(give(warden, &order, sizeof order, descriptors, XC_COUNT(descriptors), &reply));
}

static struct xc_order *order_of(const struct xc_warden *warden, const struct xc_warden_pair *pair, size_t *size_out)
{
	const struct xc_input *input = pair->input;
	const size_t path_size = strlen(input->path) + 1, file_size = strlen(input->file) + 1;
	struct xc_order *order = xc_alloc(sizeof *order + path_size + file_size);
	*order = (struct xc_order){.kind = XC_ORDER_PAIR,
				   .desk = (size_t)(pair->desk - warden->desks->desks),
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

struct xc_error *xc_warden_fork(struct xc_warden *warden, struct xc_warden_pair *pair)
{
	const int descriptors[] = {pair->result, pair->worker, pair->broker, pair->scratch};
	struct xc_order_reply reply;
	size_t size;
	xc_auto(xc_freep) struct xc_order *order = order_of(warden, pair, &size);
	struct xc_error *err = size <= XC_ORDER_MAX ? give(warden, order, size, descriptors,
							   XC_COUNT(descriptors) - (pair->scratch < 0), &reply)
						    : xc_error_errno(ENAMETOOLONG, "starting a worker");
	pair->broker_pid = size <= XC_ORDER_MAX ? reply.first : 0;
	pair->worker_pid = size <= XC_ORDER_MAX ? reply.second : 0;
	return err;
}

struct xc_error *xc_warden_replace(struct xc_warden *warden, struct xc_warden_pair *pair, uint64_t since)
{
	struct xc_desk *desk = pair->desk;
	const int descriptors[] = {pair->broker, pair->scratch};
	const uint64_t now = atomic_load(&desk->since_ns); /* 0: it has answered after all */
	const struct xc_order order = {.kind = XC_ORDER_BROKER,
				       .desk = (size_t)(desk - warden->desks->desks),
				       .number = now ? desk->number : 0,
				       .scratch_error = pair->scratch_error};
	struct xc_order_reply reply;
	if (now && now == since)
		xc_desks_give_up(warden->desks, desk);
	else if (now)
		xc_desk_give_up(desk);
	atomic_store(&desk->since_ns, 0);
	struct xc_error *err =
		give(warden, &order, sizeof order, descriptors, XC_COUNT(descriptors) - (pair->scratch < 0), &reply);
	pair->broker_pid = reply.first;
	return err;
}

struct xc_error *xc_warden_build(struct xc_warden *warden, int file, int image, pid_t *pid_out)
{
	const struct xc_order order = {.kind = XC_ORDER_BUILDER};
	const int descriptors[] = {file, image};
	struct xc_order_reply reply;
	struct xc_error *err = give(warden, &order, sizeof order, descriptors, XC_COUNT(descriptors), &reply);
	*pid_out = reply.first;
	return err;
}

/* ---- desks ---- */

struct xc_desk *xc_warden_desk(struct xc_warden *warden)
{
	for (size_t i = 0; i < XC_DESKS; i++)
		if (!warden->taken[i]) {
			struct xc_desk *desk = &warden->desks->desks[i];
			warden->taken[i] = true;
			*desk = (struct xc_desk){.number = 0};
			return desk;
		}
	return NULL;
}

void xc_warden_sought(const struct xc_warden *warden, const struct xc_desk *desk, struct xc_sought_list *list)
{
	xc_desks_sought(warden->desks, desk, list);
}

void xc_warden_free_desk(struct xc_warden *warden, struct xc_desk *desk)
{
	warden->taken[desk - warden->desks->desks] = false;
}

void xc_warden_ask_again(struct xc_warden *warden)
{
	atomic_store(&warden->desks->silent_count, 0);
}

/* ---- what brokers want ---- */

int xc_warden_wants(const struct xc_warden *warden)
{
	return warden->wants;
}

int xc_warden_wanted(struct xc_warden *warden, char name[XC_WARDEN_NAME])
{
	int fd;
	const ssize_t size = xc_passing_receive(warden->wants, name, XC_WARDEN_NAME, &fd, 1, MSG_DONTWAIT);
	if (fd >= 0 && (size <= 0 || memchr(name, 0, (size_t)size) == NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- ends ---- */

bool xc_warden_ends(pid_t pid)
{
	struct pollfd polled = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	if (polled.fd < 0)
		return errno == ESRCH;
	const bool ended = poll(&polled, 1, MOMENT_MS) > 0;
	close(polled.fd);
	return ended;
}

int xc_warden_leave(struct xc_warden *warden, pid_t pid)
{
	int status = 0;
	reap(warden);
	const pid_t ended = waitpid(pid, &status, WNOHANG);
	if (ended)
		return ended == pid ? status : 0;
	if (xc_warden_ends(pid))
		return waitpid(pid, &status, 0) == pid ? status : 0;
	warden->left = xc_grow(warden->left, warden->left_count, &warden->left_capacity, sizeof *warden->left);
	warden->left[warden->left_count++] = pid;
	return 0;
}
