/* dependency_check: a child process reports one byte per file, in order. If it is silent for too long, it is given up;
 * the next child continues after the unresponsive file, without other files of the same place. */
#include "batch/run/dependency_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/broker.h"
#include "batch/sandbox/worker_child.h"
#include "batch/sandbox/fork_server.h"

enum {
	SAYS = XC_WORKER_CHILD_FIRST,
	TRIES = 8, /* unresponsive places; after that many, no more files are checked */
	WAKE_MS = 250,
};

void xc_dependency_check_add(struct xc_dependency_check *check, const struct xc_record *record)
{
	for (size_t i = 0; i < record->dependency_count; i++) {
		struct xc_file_dependency *dependency = record->dependencies[i];
		if (dependency->now != XC_FILE_DEPENDENCY_UNSEEN)
			continue;
		dependency->now = XC_FILE_DEPENDENCY_STAYS;
		check->files =
			xc_grow(check->files, check->count, &check->capacity, sizeof(struct xc_file_dependency *));
		check->files[check->count++] = dependency;
	}
}

void xc_dependency_check_fini(struct xc_dependency_check *check)
{
	free(check->files);
	*check = (struct xc_dependency_check){.count = 0};
}

/* ---- child ---- */

_Noreturn static void look(const struct xc_dependency_check *check, size_t next, struct xc_broker_statuses *statuses,
			   pid_t parent, int says)
{
	const struct xc_broker broker = {.finder = check->worker->finder,
					 .host_files = check->worker->host_files,
					 .status = &statuses->statuses[0],
					 .statuses = statuses};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !xc_worker_child_shed(&says, 1))
		_exit(XC_WORKER_CHILD_BROKEN);
	setsid(); /* this process watches the child itself (stall.h) */
	for (; next < check->count; next++) {
		check->files[next]->now = XC_FILE_DEPENDENCY_UNSEEN;
		const char changed = xc_broker_changed(&broker, check->files[next]);
		if (write(SAYS, &changed, 1) != 1)
			_exit(XC_WORKER_CHILD_BROKEN);
	}
	_exit(0);
}

/* ---- parent ---- */

/* Reads reports until all files are reported, or nothing comes for too long. Returns the first file without a
 * report. */
static size_t listen_to(const struct xc_dependency_check *check, size_t next, int says)
{
	const uint64_t patience = xc_worker_options_patience(check->worker);
	uint64_t since = xc_now_ns();
	while (next < check->count && !xc_worker_options_stopped(check->worker) && xc_now_ns() - since < patience) {
		struct pollfd polled = {.fd = says, .events = POLLIN};
		char changed[4096];
		if (poll(&polled, 1, WAKE_MS) <= 0)
			continue;
		const ssize_t size = read(says, changed, sizeof changed);
		if (size <= 0)
			break; /* interrupted */
		for (ssize_t i = 0; i < size && next < check->count; i++)
			check->files[next++]->now = changed[i] ? XC_FILE_DEPENDENCY_CHANGED : XC_FILE_DEPENDENCY_STAYS;
		since = xc_now_ns();
	}
	return next;
}

/* A child that the kernel keeps from ending is not waited for. */
static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	xc_fork_server_has_ended(pid);
	waitpid(pid, NULL, WNOHANG);
}

static struct xc_error *go_on(const struct xc_dependency_check *check, size_t *next,
			      struct xc_broker_statuses *statuses)
{
	const pid_t parent = getpid();
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC))
		return xc_error_errno(errno, "checking for changed files");
	const pid_t pid = fork();
	const int number = errno;
	if (pid == 0)
		look(check, *next, statuses, parent, pipes[1]);
	close(pipes[1]);
	if (pid > 0) {
		*next = listen_to(check, *next, pipes[0]);
		end(pid);
	}
	close(pipes[0]);
	return pid < 0 ? xc_error_errno(number, "checking for changed files") : NULL;
}

static void give_up(struct xc_dependency_check *check, const struct xc_file_dependency *file,
		    struct xc_broker_statuses *statuses)
{
	xc_broker_status_set_place(&statuses->statuses[0], file->root, file->path);
	xc_broker_status_give_up_place(statuses, &statuses->statuses[0]);
	if (!check->silent)
		check->silent = file;
}

struct xc_error *xc_dependency_check_run(struct xc_dependency_check *check)
{
	struct xc_broker_statuses *statuses = xc_broker_status_map();
	struct xc_error *err = statuses ? NULL : xc_error_errno(errno, "checking for changed files");
	size_t next = 0;
	for (int tries = 0; !err && tries < TRIES && next < check->count; tries++) {
		err = go_on(check, &next, statuses);
		if (xc_worker_options_stopped(check->worker))
			break;
		if (!err && next < check->count)
			give_up(check, check->files[next++], statuses);
	}
	xc_broker_status_unmap(statuses);
	return err;
}
