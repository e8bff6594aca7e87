/* watchdog_helper: calls that may hang (naming a file, writing to a terminal that is stopped, removing a file) are
 * made by helper processes. A helper that does not return is killed, and abandoned if it cannot be killed. */
#include "cli/watchdog/watchdog_impl.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/io/stall_calls.h"
#include "core/report/scrub.h"

enum { BUSY_MS = 3000 }; /* at most, for a helper that waits for a processor only */

/* clone3 with CLONE_FILES, which fork(2) cannot do. libc's fork would also store the thread id in the thread's
 * control block; the kernel knows that address and does it here. */
pid_t xc_watchdog_fork_sharing(void)
{
	pid_t *tid = NULL;
	struct clone_args how = {.flags = CLONE_FILES, .exit_signal = SIGCHLD};
	if (!prctl(PR_GET_TID_ADDRESS, &tid) && tid && *tid == getpid()) {
		how.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
		how.child_tid = (uint64_t)(uintptr_t)tid;
		const pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
		if (pid >= 0 || errno == EAGAIN || errno == ENOMEM)
			return pid;
	}
	return fork();
}

/* Is the process running, or ready to run? */
static bool is_runnable(pid_t pid)
{
	char line[XC_STALL_CALL];
	const char *name_end =
		xc_stall_read(line, sizeof line, "/proc/%ld/stat", (long)pid) ? strrchr(line, ')') : NULL;
	return name_end && strncmp(name_end, ") R", 3) == 0;
}

/* The moment counts only time in which the helper waits for something other than a processor: on a busy machine no
 * message is lost. */
bool xc_watchdog_help(void (*work)(const struct xc_watchdog *w, void *user), const struct xc_watchdog *w, void *user)
{
	const pid_t parent = getpid(), pid = xc_watchdog_fork_sharing();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			work(w, user);
		_exit(0);
	}
	const uint64_t start = xc_now_ns();
	uint64_t last = start; /* time counts only while the helper waits for something else than a processor */
	for (uint64_t took = 0; pid > 0 && took < WATCHDOG_MOMENT_MS * WATCHDOG_MS;) {
		const struct timespec nap = {.tv_nsec = (long)WATCHDOG_MS};
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		nanosleep(&nap, NULL);
		const uint64_t now = xc_now_ns();
		if (now - start >= BUSY_MS * WATCHDOG_MS)
			break;
		took += is_runnable(pid) ? 0 : now - last;
		last = now;
	}
	if (pid > 0)
		kill(pid, SIGKILL);
	return false;
}

/* Lies in memory that is shared with the helper. */
struct file_name {
	const struct xc_stalled_thread *stalled;
	char name[3 * PATH_MAX];
};

static void find_name(const struct xc_watchdog *w, void *user)
{
	struct file_name *shared = user;
	struct xc_text text = {0};
	(void)w;
	xc_stall_describe(shared->stalled, &text);
	snprintf(shared->name, sizeof shared->name, "%s", xc_text_string(&text));
}

static void write_text(const struct xc_watchdog *w, void *user)
{
	const struct xc_text *text = user;
	(void)w;
	if (write(STDERR_FILENO, text->bytes, text->len) < 0)
		errno = 0; /* there is nobody to report that to */
}

void xc_watchdog_write(const struct xc_watchdog *w, const struct xc_text *text)
{
	xc_watchdog_help(write_text, w, (void *)(uintptr_t)text);
}

void xc_watchdog_begin_line(const struct xc_watchdog *w, struct xc_text *text)
{
	if (atomic_load(&w->told->shows_progress))
		xc_text_add(text, "\r\033[K");
}

void xc_watchdog_add_name(const struct xc_watchdog *w, const struct xc_stalled_thread *stalled, struct xc_text *text)
{
	struct file_name *shared =
		mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	xc_watchdog_begin_line(w, text);
	xc_text_add(text, "xcore: ");
	const size_t before = text->len;
	if (shared != MAP_FAILED) {
		shared->stalled = stalled;
		xc_watchdog_help(find_name, w, shared);
		shared->name[sizeof shared->name - 1] = '\0';
		const struct xc_scrub forms = {.count = 0};
		xc_auto(xc_text_fini) struct xc_text without = {0};
		const bool hides =
			atomic_load(&w->told->redacts) && xc_scrub_text(&forms, shared->name, false, &without);
		xc_text_name(text, hides ? xc_text_string(&without) : shared->name);
		munmap(shared, sizeof *shared);
	}
	if (text->len == before)
		xc_text_add(text, "a file");
}
