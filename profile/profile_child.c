#include "profile/profile_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/live/sandbox.h"
#include "profile/data/profile_file.h"
#include "profile/profile_finish.h"

struct xc_profile_child {
	int socket;
	int memory; /* shared with the child: the tables of the last profile */
	uint64_t requests;
};

/* The parent runs the same program, so pointers to its constants mean the same. */
struct message {
	uint64_t number;
	struct xc_profile_request request;
};

struct answer {
	uint64_t number; /* of the request: a client may have exited, and another one asks now */
	uint32_t code;   /* 0, or enum xc_error_code */
	uint64_t len;    /* of the tables */
	char text[512], hint[256];
};

/* What the child works with. */
struct server {
	struct xc_process *process;
	struct xc_profile_child_options options;
	int socket, memory;
};

/* ---- the one that samples ---- */

static struct xc_error *enter_sandbox(const char *cache_dir)
{
	const bool caches = cache_dir && access(cache_dir, W_OK) == 0;
	const struct xc_sandbox_options options = {.write_dirs = &cache_dir, .write_dir_count = caches};
	return xc_sandbox_writes(&options, NULL);
}

static struct xc_error *sample(const struct server *s, const struct xc_profile_request *request,
			       struct xc_profile_data **data_out)
{
	static const volatile int never;
	const struct xc_profile_options options = {
		.sampler = {.hz = request->hz, .counter = request->counter},
		.clock = request->clock,
		.any_clock = request->any_clock,
		.tid = request->tid,
	};
	struct xc_profile *profile;
	struct xc_error *err = xc_profile_start(s->process, &options, &profile);
	if (err || (err = enter_sandbox(s->options.cache_dir)))
		return err;
	struct xc_sample_guest *guest = s->options.guests ? s->options.guests(s->options.ctx) : NULL;
	if (guest)
		xc_profile_guests(profile, guest);
	xc_profile_run(profile, request->duration_ns, &never);
	*data_out = xc_profile_finish(profile);
	return NULL;
}

static struct xc_error *write_tables(int fd, const struct xc_profile_data *data, uint64_t *len_out)
{
	struct xc_text bytes = {0};
	xc_profile_file_pack(data, &bytes);
	if (ftruncate(fd, 0))
		return xc_error_errno(errno, "the memory of a profile");
	for (size_t done = 0; done < bytes.len;) {
		const ssize_t put = pwrite(fd, bytes.bytes + done, bytes.len - done, (off_t)done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return xc_error_errno(errno, "the memory of a profile");
		done += (size_t)put;
	}
	*len_out = bytes.len;
	return NULL;
}

static void put_text(char *to, size_t size, const char *text)
{
	const size_t len = text ? strnlen(text, size - 1) : 0;
	memcpy(to, text ? text : "", len);
	to[len] = '\0';
}

static void put_error(struct answer *answer, const struct xc_error *err)
{
	answer->code = err->code;
	put_text(answer->text, sizeof answer->text, err->message);
	put_text(answer->hint, sizeof answer->hint, err->hint);
}

/* Ends with the child that forked it. */
static _Noreturn void serve_one(const struct server *s, const struct message *message, pid_t parent)
{
	struct answer answer = {.number = message->number};
	struct xc_profile_data *data = NULL;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	struct xc_error *err = sample(s, &message->request, &data);
	if (!err)
		err = write_tables(s->memory, data, &answer.len);
	if (err)
		put_error(&answer, err);
	_exit(send(s->socket, &answer, sizeof answer, MSG_NOSIGNAL) < 0);
}

/* ---- the child ---- */

/* True: it has ended as it should. Ends this process when nobody waits for it any more. */
static bool wait_for(const struct server *s, pid_t worker)
{
	struct pollfd wait[] = {{.fd = s->socket}, {.fd = (int)syscall(SYS_pidfd_open, worker, 0), .events = POLLIN}};
	int status = 0;
	while (wait[1].fd >= 0 && poll(wait, XC_COUNT(wait), -1) >= 0 && !wait[1].revents)
		if (wait[0].revents & (POLLHUP | POLLERR))
			_exit(0);
	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	if (wait[1].fd >= 0)
		close(wait[1].fd);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Signals of the terminal are the parent's business. */
static _Noreturn void serve(const struct server *s, pid_t parent)
{
	struct message message;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	if (getppid() != parent)
		_exit(1);
	for (ssize_t len; (len = recv(s->socket, &message, sizeof message, 0)) == sizeof message;) {
		struct answer failed = {.number = message.number};
		const pid_t self = getpid(), worker = fork();
		if (worker == 0)
			serve_one(s, &message, self);
		if (worker > 0 && wait_for(s, worker))
			continue;
		put_error(&failed, xc_error_new(XC_ERR_IO, "the child that samples has failed"));
		if (send(s->socket, &failed, sizeof failed, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- the parent ---- */

struct xc_error *xc_profile_child_start(struct xc_process *process, const struct xc_profile_child_options *options,
					struct xc_profile_child **child_out)
{
	int ends[2];
	const int memory = memfd_create("xcore-profile", MFD_CLOEXEC);
	if (memory < 0)
		return xc_error_errno(errno, "the memory of a profile");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		struct xc_error *err = xc_error_errno(errno, "socketpair");
		close(memory);
		return err;
	}
	const struct server server = {process, *options, ends[1], memory};
	const pid_t parent = getpid(), child = fork();
	const int error = errno;
	if (child == 0) {
		close(ends[0]);
		serve(&server, parent);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		close(memory);
		return xc_error_errno(error, "a child that samples");
	}
	*child_out = xc_alloc(sizeof **child_out);
	**child_out = (struct xc_profile_child){.socket = ends[0], .memory = memory};
	return NULL;
}

void xc_profile_child_free(struct xc_profile_child *child)
{
	if (!child)
		return;
	close(child->socket);
	close(child->memory);
	free(child);
}

static struct xc_error *is_gone(void)
{
	return xc_error_new(XC_ERR_IO, "the child that samples is gone");
}

/* Drops answers to clients that have exited. */
static struct xc_error *receive(const struct xc_profile_child *child, const volatile int *interrupted,
				struct answer *answer)
{
	for (;;) {
		const ssize_t got = recv(child->socket, answer, sizeof *answer, 0);
		if (got < 0 && errno == EINTR) {
			if (*interrupted)
				return xc_error_new(XC_ERR_IO, "interrupted");
			continue;
		}
		if (got != sizeof *answer)
			return is_gone();
		if (answer->number == child->requests)
			break;
	}
	answer->text[sizeof answer->text - 1] = answer->hint[sizeof answer->hint - 1] = '\0';
	if (!answer->code)
		return NULL;
	struct xc_error *err = xc_error_new(answer->code, "%s", answer->text);
	return answer->hint[0] ? xc_error_hint(err, "%s", answer->hint) : err;
}

/* Copied: the child reads what a target decides, and is not trusted. */
static struct xc_error *read_tables(int fd, uint64_t len, struct xc_profile_data **data_out)
{
	struct stat st;
	if (fstat(fd, &st) || len > (uint64_t)st.st_size)
		return xc_error_new(XC_ERR_FORMAT, "the memory of a profile: cut short");
	xc_auto(xc_freep) uint8_t *bytes = xc_alloc(len + 1);
	for (uint64_t done = 0; done < len;) {
		const ssize_t got = pread(fd, bytes + done, len - done, (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return xc_error_errno(got ? errno : EIO, "the memory of a profile");
		done += (uint64_t)got;
	}
	return xc_profile_file_unpack(bytes, len, data_out);
}

struct xc_error *xc_profile_child_take(struct xc_profile_child *child, const struct xc_profile_request *request,
				       const volatile int *interrupted, struct xc_profile_data **data_out)
{
	struct answer answer;
	/* One who asks may be a process forked from another one that has asked as often. */
	child->requests = (uint64_t)getpid() << 32 | (uint32_t)(child->requests + 1);
	const struct message message = {.number = child->requests, .request = *request};
	if (send(child->socket, &message, sizeof message, MSG_NOSIGNAL) != sizeof message)
		return is_gone();
	struct xc_error *err = receive(child, interrupted, &answer);
	return err ? err : read_tables(child->memory, answer.len, data_out);
}
