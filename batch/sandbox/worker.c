/* worker: the parent's side of a worker and its broker.
 *
 * It polls two descriptors: the pipe of the record, and a pidfd that becomes readable when the process has ended,
 * whatever the reason. The broker's activity is visible in its status. The parent never blocks on a single worker, nor
 * on a process that the kernel keeps from ending. */
#include "batch/sandbox/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io/opener.h"
#include "batch/sandbox/worker_child.h"
#include "batch/sandbox/worker_impl.h"

enum { STUCK_SECONDS = 2 };

static const uint64_t SECOND = UINT64_C(1000000000);

/* ---- start ---- */

int xc_worker_scratch(void)
{
	const char *dir = getenv("TMPDIR");
	return xc_opener_scratch(dir && *dir ? dir : "/var/tmp");
}

static struct xc_worker *prepare(const struct xc_input *input, const struct xc_worker_options *options)
{
	struct xc_worker *w = xc_alloc(sizeof *w);
	*w = (struct xc_worker){.input = input,
				.fork_server = options->fork_server,
				.result = -1,
				.process = -1,
				.last_try = options->last_try,
				.heapless = options->heapless,
				.room = options->room,
				.file_size = xc_worker_options_sandbox(options).file_size};
	w->pair = (struct xc_fork_server_pair){
		.input = input, .options = options, .result = -1, .worker = -1, .broker = -1, .scratch = -1};
	w->deadline_ns = xc_now_ns() + (uint64_t)xc_worker_options_seconds(options) * SECOND;
	w->patience_ns = xc_worker_options_patience(options);
	return w;
}

static void close_it(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void release(struct xc_worker *w)
{
	if (w->pair.broker_pid) {
		kill(w->pair.broker_pid, SIGKILL);
		xc_fork_server_reap(w->fork_server, w->pair.broker_pid);
	}
	close_it(&w->result);
	close_it(&w->process);
	close_it(&w->pair.broker);
	close_it(&w->pair.scratch);
	if (w->pair.status)
		xc_fork_server_free_status(w->fork_server, w->pair.status);
	xc_text_fini(&w->text);
	free(w);
}

/* Creates what the two processes need; the pipe's read end stays here. */
static bool equip(struct xc_worker *w)
{
	int pipes[2], sockets[2];
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return false;
	w->result = pipes[0];
	w->pair.result = pipes[1];
	fcntl(w->pair.result, F_SETFL, 0);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return false;
	w->pair.broker = sockets[0];
	w->pair.worker = sockets[1];
	w->pair.status = xc_fork_server_take_status(w->fork_server);
	/* without a temporary file, only workers that ask for it are hindered */
	w->pair.scratch = xc_worker_scratch();
	w->pair.scratch_error = w->pair.scratch < 0 ? errno : 0;
	errno = EAGAIN;
	return w->pair.status;
}

static struct xc_error *start(struct xc_worker *w)
{
	struct xc_error *err =
		equip(w) ? xc_fork_server_fork(w->fork_server, &w->pair) : xc_error_errno(errno, "starting a worker");
	close_it(&w->pair.result);
	close_it(&w->pair.worker);
	w->pair.options = NULL; /* it belongs to the caller */
	if (err)
		return err;
	w->process = (int)syscall(SYS_pidfd_open, w->pair.worker_pid, 0);
	return w->process < 0 ? xc_error_errno(errno, "a descriptor of a worker (Linux 5.3)") : NULL;
}

struct xc_error *xc_worker_start(const struct xc_input *input, const struct xc_worker_options *options,
				 struct xc_worker **worker_out)
{
	struct xc_worker *w = prepare(input, options);
	struct xc_error *err = start(w);
	if (err) {
		xc_worker_kill(w);
		return err;
	}
	*worker_out = w;
	return NULL;
}

/* ---- while it runs ---- */

size_t xc_worker_descriptors(const struct xc_worker *w, int descriptors[XC_WORKER_DESCRIPTORS])
{
	size_t count = 0;
	if (w->result >= 0)
		descriptors[count++] = w->result;
	if (w->process >= 0)
		descriptors[count++] = w->process;
	return count;
}

uint64_t xc_worker_deadline(const struct xc_worker *w)
{
	const uint64_t since = w->pair.status ? atomic_load(&w->pair.status->since_ns) : 0;
	return since && since + w->patience_ns < w->deadline_ns ? since + w->patience_ns : w->deadline_ns;
}

static void kill_it(const struct xc_worker *w)
{
	if (!w->ended && w->pair.worker_pid)
		kill(w->pair.worker_pid, SIGKILL);
}

/* ---- broker ---- */

static void note_trouble(struct xc_worker *w, int number, const char *what)
{
	if (w->trouble)
		return;
	w->trouble = number;
	w->what = what;
}

/* To be called before the broker is told to end: a broker that is gone by then gave up, or was killed by something
 * else. */
static void reap_broker(struct xc_worker *w)
{
	int status;
	if (!w->pair.broker_pid || waitpid(w->pair.broker_pid, &status, WNOHANG) != w->pair.broker_pid)
		return;
	w->pair.broker_pid = 0;
	if (WIFSIGNALED(status))
		note_trouble(w, EIO, "its broker was killed (by the kernel, when memory ran out?)");
	else if (WEXITSTATUS(status))
		note_trouble(w, EIO, "its broker gave up");
}

/* An open that takes too long counts as absent, and a replacement broker continues. Without a broker, the worker would
 * wait for its answers in vain. */
static void watch_broker(struct xc_worker *w)
{
	reap_broker(w);
	if (!w->pair.broker_pid) {
		if (w->trouble || w->pair.status->refused)
			kill_it(w);
		return;
	}
	const uint64_t since = atomic_load(&w->pair.status->since_ns), now = xc_now_ns();
	if (!since || now < since || now - since < w->patience_ns)
		return;
	kill(w->pair.broker_pid, SIGKILL);
	xc_fork_server_reap(w->fork_server, w->pair.broker_pid);
	struct xc_error *err = xc_fork_server_replace(w->fork_server, &w->pair, since);
	if (err) {
		note_trouble(w, EAGAIN, "starting another broker for it");
		xc_error_free(err);
		kill_it(w);
	}
}

static void check_broker(struct xc_worker *w)
{
	static const char *const lacks[] = {
		[XC_BROKER_STATUS_NOTHING] = "",
		[XC_BROKER_STATUS_FILE] = "opening a file for it",
		[XC_BROKER_STATUS_SCRATCH] = "a temporary file (TMPDIR)",
		[XC_BROKER_STATUS_ANSWER] = "giving it a file",
	};
	if (w->pair.status->trouble)
		note_trouble(w, w->pair.status->trouble, lacks[w->pair.status->lack]);
	reap_broker(w);
}

/* ---- worker ---- */

/* Reads everything that the pipe has now. */
static void drain(struct xc_worker *w)
{
	char bytes[1 << 14];
	while (w->result >= 0) {
		ssize_t n = read(w->result, bytes, sizeof bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close_it(&w->result);
			return;
		}
		w->too_much = w->text.len + (size_t)n > XC_RECORD_MAX;
		if (w->too_much) {
			kill_it(w);
			close_it(&w->result);
			return;
		}
		xc_text_addn(&w->text, bytes, (size_t)n);
	}
}

static bool has_ended(struct xc_worker *w)
{
	const pid_t pid = w->ended ? 0 : waitpid(w->pair.worker_pid, &w->status, WNOHANG);
	/* SIGCHLD is ignored: the exit status is lost */
	if (pid == w->pair.worker_pid || (pid < 0 && errno == ECHILD))
		w->ended = true;
	return w->ended;
}

bool xc_worker_serve(struct xc_worker *w)
{
	const uint64_t now = xc_now_ns();
	drain(w);
	if (has_ended(w)) {
		drain(w); /* whatever it wrote before it ended */
		check_broker(w);
		xc_worker_check_room(w);
		return true;
	}
	if (!w->late && now >= w->deadline_ns) {
		w->late = true;
		kill_it(w);
	}
	if (!w->late)
		watch_broker(w);
	w->stuck = w->late && now >= w->deadline_ns + STUCK_SECONDS * SECOND;
	return w->stuck;
}

/* ---- the end ---- */

struct xc_record *xc_worker_finish(struct xc_worker *w, struct xc_arena *arena)
{
	struct xc_record *record = xc_worker_outcome(w, arena);
	struct xc_file_dependency_list dependency = {.count = 0};
	xc_fork_server_dependencies(w->fork_server, w->pair.status, &dependency);
	xc_file_dependency_store(&dependency, record, arena);
	xc_file_dependency_fini(&dependency);
	xc_worker_kill(w);
	return record;
}

void xc_worker_kill(struct xc_worker *w)
{
	kill_it(w);
	if (w->pair.worker_pid && !w->ended)
		xc_fork_server_reap(w->fork_server, w->pair.worker_pid);
	release(w);
}
