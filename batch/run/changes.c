/* changes: the process that looks says a byte of each file, in their order. One that says nothing for too long is given up, and the next goes
 * on behind the file that does not answer, without those of the same place. */
#include "batch/run/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/broker.h"
#include "batch/sandbox/inmate.h"
#include "batch/sandbox/warden.h"

enum {
	SAYS = XC_INMATE_FIRST,
	TRIES = 8, /* places that do not answer; of more, no file is looked for any more */
	WAKE_MS = 250,
};

void xc_changes_want(struct xc_changes *changes, const struct xc_record *record)
{
	for (size_t i = 0; i < record->sought_count; i++) {
		struct xc_sought *sought = record->sought[i];
		if (sought->now != XC_SOUGHT_UNSEEN)
			continue;
		sought->now = XC_SOUGHT_STAYS;
		changes->files =
			xc_grow(changes->files, changes->count, &changes->capacity, sizeof(struct xc_sought *));
		changes->files[changes->count++] = sought;
	}
}

void xc_changes_fini(struct xc_changes *changes)
{
	free(changes->files);
	*changes = (struct xc_changes){.count = 0};
}

/* ---- who looks ---- */

_Noreturn static void look(const struct xc_changes *changes, size_t next, struct xc_desks *desks, pid_t parent,
			   int says)
{
	const struct xc_broker broker = {.finder = changes->worker->finder,
					 .host_files = changes->worker->host_files,
					 .desk = &desks->desks[0],
					 .desks = desks};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !xc_inmate_shed(&says, 1))
		_exit(XC_INMATE_BROKEN);
	setsid(); /* it is looked after here (stall.h) */
	for (; next < changes->count; next++) {
		changes->files[next]->now = XC_SOUGHT_UNSEEN;
		const char changed = xc_broker_changed(&broker, changes->files[next]);
		if (write(SAYS, &changed, 1) != 1)
			_exit(XC_INMATE_BROKEN);
	}
	_exit(0);
}

/* ---- who waits ---- */

/* Until all is said, or nothing for too long; the first file that nothing was said of. */
static size_t listen_to(const struct xc_changes *changes, size_t next, int says)
{
	const uint64_t patience = xc_worker_patience(changes->worker);
	uint64_t since = xc_now_ns();
	while (next < changes->count && !xc_worker_stopped(changes->worker) && xc_now_ns() - since < patience) {
		struct pollfd polled = {.fd = says, .events = POLLIN};
		char changed[4096];
		if (poll(&polled, 1, WAKE_MS) <= 0)
			continue;
		const ssize_t size = read(says, changed, sizeof changed);
		if (size <= 0)
			break; /* it was ended */
		for (ssize_t i = 0; i < size && next < changes->count; i++)
			changes->files[next++]->now = changed[i] ? XC_SOUGHT_CHANGED : XC_SOUGHT_STAYS;
		since = xc_now_ns();
	}
	return next;
}

/* One that the kernel keeps waiting is not waited for. */
static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	xc_warden_ends(pid);
	waitpid(pid, NULL, WNOHANG);
}

static struct xc_error *go_on(const struct xc_changes *changes, size_t *next, struct xc_desks *desks)
{
	const pid_t parent = getpid();
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC))
		return xc_error_errno(errno, "looking for files that changed");
	const pid_t pid = fork();
	const int number = errno;
	if (pid == 0)
		look(changes, *next, desks, parent, pipes[1]);
	close(pipes[1]);
	if (pid > 0) {
		*next = listen_to(changes, *next, pipes[0]);
		end(pid);
	}
	close(pipes[0]);
	return pid < 0 ? xc_error_errno(number, "looking for files that changed") : NULL;
}

static void give_up(struct xc_changes *changes, const struct xc_sought *file, struct xc_desks *desks)
{
	xc_desk_write(&desks->desks[0], file->root, file->path);
	xc_desks_give_up(desks, &desks->desks[0]);
	if (!changes->silent)
		changes->silent = file;
}

struct xc_error *xc_changes_look(struct xc_changes *changes)
{
	struct xc_desks *desks = xc_desks_map();
	struct xc_error *err = desks ? NULL : xc_error_errno(errno, "looking for files that changed");
	size_t next = 0;
	for (int tries = 0; !err && tries < TRIES && next < changes->count; tries++) {
		err = go_on(changes, &next, desks);
		if (xc_worker_stopped(changes->worker))
			break;
		if (!err && next < changes->count)
			give_up(changes, changes->files[next++], desks);
	}
	xc_desks_unmap(desks);
	return err;
}
