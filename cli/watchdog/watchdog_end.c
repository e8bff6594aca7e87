/* watchdog_end: both processes have one table of file descriptors. So a descriptor that is closed here is closed in
 * the child too, even when the child cannot be killed. Closing a file that hangs is left to the child. */
#include "cli/watchdog/watchdog_impl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/io/stall_calls.h"

enum { DEPTH = 8 }; /* of the tree of processes that is killed */

bool xc_watchdog_has_ended(struct xc_watchdog *w)
{
	if (!w->ended && waitpid(w->child, &w->status, WNOHANG) == w->child)
		w->ended = true;
	return w->ended;
}

static bool ends_in(struct xc_watchdog *w, uint64_t ms)
{
	const uint64_t end = xc_now_ns() + ms * WATCHDOG_MS;
	for (uint64_t now; !xc_watchdog_has_ended(w) && (now = xc_now_ns()) < end;) {
		sigset_t child;
		const struct timespec left = {.tv_nsec = (long)(end - now)};
		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigtimedwait(&child, NULL, &left);
	}
	return w->ended;
}

/* The kernel kills the children of a process that has died (PR_SET_PDEATHSIG); here the process cannot die. */
static void kill_children(pid_t pid, int depth)
{
	xc_auto(xc_freep) pid_t *children = xc_stall_children(pid);
	for (size_t i = 0; children[i]; i++) {
		if (depth)
			kill_children(children[i], depth - 1);
		kill(children[i], SIGKILL);
	}
}

void xc_watchdog_kill(struct xc_watchdog *w)
{
	if (xc_watchdog_has_ended(w))
		return;
	kill(w->child, SIGKILL);
	if (!ends_in(w, WATCHDOG_MOMENT_MS))
		kill_children(w->child, DEPTH);
}

void xc_watchdog_remove_temporaries(const struct xc_watchdog *w, void *user)
{
	(void)user;
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++) {
		char *path = w->told->tempfiles[i].path;
		path[PATH_MAX - 1] = '\0';
		if (atomic_load(&w->told->tempfiles[i].complete) && xc_shared_status_is_tempfile(path, w->child))
			unlink(path);
	}
}

bool xc_watchdog_is_stream(int fd)
{
	char name[PATH_MAX];
	xc_stall_descriptor(getpid(), fd, name);
	return *name && (!xc_stall_is_file(name) || fcntl(fd, F_GETPIPE_SZ) >= 0);
}

/* Their readers then stop waiting. Files are left open: the other process that has them closes them. */
static void close_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (xc_watchdog_is_stream(fd))
			close(fd);
}

static void restore_terminal(const struct xc_watchdog *w)
{
	struct termios now;
	if (w->has_terminal && tcgetpgrp(STDIN_FILENO) == getpgrp() && !tcgetattr(STDIN_FILENO, &now) &&
	    memcmp(&now, &w->terminal, sizeof now) != 0)
		tcsetattr(STDIN_FILENO, TCSANOW, &w->terminal);
}

void xc_watchdog_clean_up(struct xc_watchdog *w)
{
	struct xc_text text = {0};
	xc_watchdog_kill(w);
	restore_terminal(w);
	xc_watchdog_begin_line(w, &text);
	if (text.len)
		xc_watchdog_write(w, &text);
	xc_text_fini(&text);
	close_streams();
	xc_watchdog_help(xc_watchdog_remove_temporaries, w, NULL);
}

/* End by a signal as the child did, but without a core dump: the child has left one. */
_Noreturn static void end_by(const struct xc_watchdog *w, int number)
{
	const struct rlimit none = {0};
	sigset_t set = w->blocked;
	sigdelset(&set, number);
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	kill(getpid(), number);
	sigprocmask(SIG_SETMASK, &set, NULL);
	_exit(128 + number); /* process 1 of a container ignores signals */
}

_Noreturn void xc_watchdog_end_as_child(struct xc_watchdog *w)
{
	if (WIFEXITED(w->status))
		_exit(WEXITSTATUS(w->status));
	xc_watchdog_clean_up(w);
	end_by(w, WTERMSIG(w->status));
}

_Noreturn void xc_watchdog_end_now(struct xc_watchdog *w, const struct xc_stalled_thread *stalled)
{
	struct xc_text text = {0};
	if (stalled)
		xc_watchdog_add_name(w, stalled, &text);
	else
		xc_watchdog_begin_line(w, &text);
	xc_text_add(&text, stalled ? ": no answer: exiting without it\n" : "xcore: interrupted\n");
	xc_watchdog_write(w, &text);
	xc_watchdog_clean_up(w);
	end_by(w, w->end_signal);
}
