/* watchdog: it sleeps until a signal comes, or until it is time to look at the child again. */
#include "cli/watchdog/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/watchdog/watchdog_impl.h"

enum {
	REPORT_MS = 10000, /* a file that takes longer is named */
	LOOKS = 4,         /* at the child, in the shorter one of that time and the user's */
	HANGS_MS = 400,    /* a child that is to end and waits for one file so long cannot react */
	END_MS = 700,      /* for any other child that is to end */
	SAVE_MS = 5000,    /* for a child that has much to save */
};

static const uint64_t SECOND_MS = 1000;

/* ---- signals ---- */

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* A signal that was ignored (nohup) or blocked at the start stays so. */
static void choose_signals(struct xc_watchdog *w)
{
	struct sigaction now;
	sigset_t nothing;
	sigemptyset(&nothing);
	sigprocmask(SIG_BLOCK, &nothing, &w->blocked);
	sigemptyset(&w->awaited);
	sigaddset(&w->awaited, SIGCHLD);
	for (size_t i = 0; i < XC_COUNT(stopping); i++)
		if (!sigaction(stopping[i], NULL, &now) && now.sa_handler != SIG_IGN &&
		    !sigismember(&w->blocked, stopping[i]))
			sigaddset(&w->awaited, stopping[i]);
	signal(SIGCHLD, SIG_DFL); /* if it were ignored, the status of the child would be lost */
	sigprocmask(SIG_BLOCK, &w->awaited, NULL);
}

/* The next signal that is waited for, or 0 after `ms`. */
static int wait_for_signal(const struct xc_watchdog *w, uint64_t ms, siginfo_t *info)
{
	const struct timespec timeout = {.tv_sec = (time_t)(ms / SECOND_MS),
					 .tv_nsec = (long)(ms % SECOND_MS * WATCHDOG_MS)};
	const int number = sigtimedwait(&w->awaited, info, &timeout);
	return number > 0 ? number : 0;
}

/* ---- files that do not answer ---- */

static void add_time(struct xc_text *text, uint64_t seconds)
{
	xc_text_printf(text, ": no answer for %" PRIu64 " second%s: ", seconds, seconds == 1 ? "" : "s");
}

/* The directory, malloc'ed, of a file that the answer does not need, while no part of the answer is visible yet.
 * NULL: this file is not of that kind. */
static char *directory_to_skip(const struct xc_watchdog *w, const struct xc_stalled_thread *stalled)
{
	char path[PATH_MAX];
	if (!atomic_load(&w->told->restartable) || atomic_load(&w->told->opening_tid) != stalled->tid ||
	    w->silent_count == XC_SHARED_UNRESPONSIVE)
		return NULL;
	memcpy(path, w->told->opening_path, sizeof path); /* one copy: the child may change it meanwhile */
	path[sizeof path - 1] = '\0';
	char *slash = strrchr(path, '/');
	return slash ? xc_asprintf("%.*s", (int)(slash - path), path) : NULL;
}

/* Kill the child; the next one skips that directory. */
static void restart_without(struct xc_watchdog *w, const struct xc_stalled_thread *stalled, const char *directory,
			    uint64_t seconds)
{
	struct xc_shared_status *told = w->told;
	struct xc_text text = {0};
	xc_watchdog_add_name(w, stalled, &text);
	add_time(&text, seconds);
	xc_text_add(&text, "starting over without the files in that directory\n");
	xc_watchdog_kill(w);
	xc_watchdog_write(w, &text);
	xc_text_fini(&text);
	xc_watchdog_help(xc_watchdog_remove_temporaries, w, NULL);
	snprintf(told->unresponsive[w->silent_count++], PATH_MAX, "%s", directory);
	told->unresponsive_count = w->silent_count;
	atomic_store(&told->restartable, false);
	atomic_store(&told->opening_tid, 0);
	atomic_store(&told->shows_progress, false);
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++) {
		atomic_store(&told->tempfiles[i].complete, false);
		atomic_store(&told->tempfiles[i].taken, false);
	}
}

_Noreturn static void give_up(struct xc_watchdog *w, const struct xc_stalled_thread *stalled, uint64_t seconds)
{
	struct xc_text text = {0};
	xc_watchdog_add_name(w, stalled, &text);
	add_time(&text, seconds);
	xc_text_add(&text, "given up\n");
	if (!atomic_load(&w->told->quiet))
		xc_text_add(&text,
			    "  hint: is its file system hung? --io-timeout SECONDS waits longer, 0 waits for ever\n");
	xc_watchdog_kill(w);
	xc_watchdog_write(w, &text);
	xc_watchdog_clean_up(w);
	_exit(XC_EXIT_INPUT);
}

static bool is_reported(const struct xc_watchdog *w, const struct xc_stalled_thread *stalled)
{
	return w->reported.tid == stalled->tid && w->reported.since_ms == stalled->since_ms;
}

static void report_wait(struct xc_watchdog *w, const struct xc_stalled_thread *stalled)
{
	struct xc_text text = {0};
	xc_watchdog_add_name(w, stalled, &text);
	add_time(&text, REPORT_MS / SECOND_MS);
	xc_text_add(&text, "still waiting\n");
	xc_watchdog_write(w, &text);
	xc_text_fini(&text);
	w->reported = *stalled;
}

static const struct xc_stalled_thread *waits_longer_than(const struct xc_watchdog *w, enum xc_stall_kind kind,
							 uint64_t ms)
{
	const struct xc_stalled_thread *longest = xc_stall_longest(&w->stall, kind);
	return longest && w->clock_ms - longest->since_ms >= ms ? longest : NULL;
}

/* False: the child was killed, and a new one must be made. */
static bool check_waits(struct xc_watchdog *w)
{
	const uint64_t seconds = atomic_load(&w->told->timeout_s);
	const struct xc_stalled_thread *stalled =
		seconds ? waits_longer_than(w, XC_STALL_FILE, seconds * SECOND_MS) : NULL;
	if (stalled) {
		xc_auto(xc_freep) char *directory = directory_to_skip(w, stalled);
		if (directory)
			restart_without(w, stalled, directory, seconds);
		else
			give_up(w, stalled, seconds);
		return false;
	}
	if ((stalled = waits_longer_than(w, XC_STALL_FILE, REPORT_MS)) && !is_reported(w, stalled))
		report_wait(w, stalled);
	/* At a prompt the child waits for the user. */
	else if (!stalled && !atomic_load(&w->told->handles_sigint) &&
		 (stalled = waits_longer_than(w, XC_STALL_PIPE, REPORT_MS)) && !is_reported(w, stalled))
		report_wait(w, stalled);
	return true;
}

/* ---- while it runs ---- */

static uint64_t interval_ms(const struct xc_watchdog *w)
{
	const uint64_t patience = atomic_load(&w->told->timeout_s) * SECOND_MS;
	if (w->end_signal || w->interrupt_ms || !w->looked)
		return WATCHDOG_MOMENT_MS;
	return (patience && patience < REPORT_MS ? patience : REPORT_MS) / LOOKS;
}

/* A gap much longer than the interval means that this process was stopped; the child may have been stopped too. */
static void look(struct xc_watchdog *w)
{
	const uint64_t now = xc_now_ns(), most = 2 * interval_ms(w), passed = (now - w->looked_ns) / WATCHDOG_MS;
	w->clock_ms += passed < most ? passed : most;
	w->looked_ns = now;
	w->looked = true;
	xc_stall_scan(&w->stall, w->child, w->clock_ms);
}

/* The terminal and users send signals to whole groups: the child may receive the signal twice. */
static void forward(struct xc_watchdog *w, int number, const siginfo_t *info)
{
	if (w->end_signal) {
		if (w->clock_ms - w->end_ms >= HANGS_MS)
			xc_watchdog_end_now(w, waits_longer_than(w, XC_STALL_FILE, HANGS_MS));
		return;
	}
	if (number == SIGINT && atomic_load(&w->told->handles_sigint)) {
		if (info->si_code != SI_KERNEL)
			kill(w->child, number);
		w->interrupt_ms = w->clock_ms;
		return;
	}
	kill(w->child, number);
	w->end_signal = number;
	w->end_ms = w->clock_ms;
}

/* A child that waits for a file cannot react to a signal: end without it. */
static void enforce_end(struct xc_watchdog *w)
{
	const struct xc_stalled_thread *hangs = waits_longer_than(w, XC_STALL_FILE, HANGS_MS);
	const uint64_t patience = hangs ? HANGS_MS : atomic_load(&w->told->saves_on_signal) ? SAVE_MS : END_MS;
	if (w->end_signal && w->clock_ms - w->end_ms >= patience)
		xc_watchdog_end_now(w, hangs);
	if (!w->interrupt_ms || w->clock_ms - w->interrupt_ms < HANGS_MS + WATCHDOG_MOMENT_MS)
		return;
	w->interrupt_ms = 0;
	if (!hangs)
		return;
	w->end_signal = SIGINT;
	xc_watchdog_end_now(w, hangs);
}

/* Returns when a new child must be made. */
static void watch(struct xc_watchdog *w)
{
	siginfo_t info;
	bool same_child = true;
	w->looked_ns = xc_now_ns();
	while (same_child) {
		const int number = wait_for_signal(w, interval_ms(w), &info);
		if (xc_watchdog_has_ended(w))
			xc_watchdog_end_as_child(w);
		if (number && number != SIGCHLD)
			forward(w, number, &info);
		look(w);
		enforce_end(w);
		same_child = check_waits(w);
	}
	xc_stall_fini(&w->stall);
	w->reported = (struct xc_stalled_thread){.kind = XC_STALL_NONE};
	w->interrupt_ms = 0;
	w->ended = w->looked = false;
}

/* ---- start ---- */

static void save_terminal(struct xc_watchdog *w)
{
	w->has_terminal = xc_watchdog_is_stream(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &w->terminal);
}

static bool is_watched; /* this process has a watchdog */

static void begin_work(const struct xc_watchdog *w, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(XC_EXIT_INTERNAL);
	w->told->keeper = parent;
	xc_shared_status_use(w->told);
	xc_shared_status_allow_ptrace();
	is_watched = true;
	sigprocmask(SIG_SETMASK, &w->blocked, NULL);
}

void xc_watchdog_fork(void)
{
	static struct xc_watchdog w = {.clock_ms = 1}; /* never 0 */
	const pid_t parent = getpid();
	if (!(w.told = xc_shared_status_map()))
		return;
	choose_signals(&w);
	save_terminal(&w);
	while ((w.child = xc_watchdog_fork_sharing()) > 0)
		watch(&w);
	if (w.child == 0)
		begin_work(&w, parent);
	else
		sigprocmask(SIG_SETMASK, &w.blocked, NULL);
}

void xc_watchdog_close(void)
{
	fflush(NULL);
	if (!is_watched)
		return;
#ifdef SYS_close_range
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
#endif
	close(STDOUT_FILENO);
	close(STDIN_FILENO);
}
