/* keeper: it sleeps until a signal comes, or the time for another look. Both processes have one table of descriptors: so what is closed here is closed
 * there, too, where the other one cannot be killed; and closing a file that hangs is left to that one, for good.
 *
 * What may hang (naming a file, a terminal that is stopped, removing a file) is done by helpers, which get a moment. */
#include "cli/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "core/io/stall.h"
#include "core/io/stall_calls.h"
#include "cli/command.h"

enum {
	TOLD_MS = 10000, /* a file that takes longer is named */
	LOOKS = 4,       /* in the shorter one of that and the user's time */
	MOMENT_MS = 100, /* for helpers, for those who are killed, and between looks when time is short */
	BUSY_MS = 3000,  /* for a helper that waits for nothing but a processor */
	HANGS_MS = 400,  /* whoever is to end and waits so long for one file does not come to it */
	END_MS = 700,    /* for what any other one does before it ends by a signal, */
	SAVE_MS = 5000,  /* and for one that has much to save */
	DEPTH = 8,
};

static const uint64_t SECOND_MS = 1000, MS = 1000000;

struct keeper {
	pid_t pid;
	struct xc_shared_status *told;
	unsigned silent_count;  /* as it is told */
	sigset_t heard, before; /* signals that it waits for; those that were blocked */
	struct xc_stall stall;
	bool looked;
	uint64_t clock_ms, looked_ns; /* time in which it could look: not while it was stopped itself */
	struct xc_stalled_thread named;      /* the last one that was named */
	int ending;                   /* the signal by which both are to end */
	uint64_t ending_ms, asked_ms; /* by the clock: since when; and when a signal came that is no end. 0: not */
	bool has_terminal;
	struct termios terminal;
	int status; /* of the other one, as of waitpid */
	bool ended;
};

/* ---- signals ---- */

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};

/* What we were started to ignore (nohup) stays ignored, and what was blocked blocked. */
static void choose_signals(struct keeper *k)
{
	struct sigaction now;
	sigset_t nothing;
	sigemptyset(&nothing);
	sigprocmask(SIG_BLOCK, &nothing, &k->before);
	sigemptyset(&k->heard);
	sigaddset(&k->heard, SIGCHLD);
	for (size_t i = 0; i < XC_COUNT(stopping); i++)
		if (!sigaction(stopping[i], NULL, &now) && now.sa_handler != SIG_IGN &&
		    !sigismember(&k->before, stopping[i]))
			sigaddset(&k->heard, stopping[i]);
	signal(SIGCHLD, SIG_DFL); /* ignored, nobody would hear how a child ended */
	sigprocmask(SIG_BLOCK, &k->heard, NULL);
}

/* One of those, or 0 when none comes in this time. */
static int hear(const struct keeper *k, uint64_t ms, siginfo_t *info)
{
	const struct timespec patience = {.tv_sec = (time_t)(ms / SECOND_MS), .tv_nsec = (long)(ms % SECOND_MS * MS)};
	const int number = sigtimedwait(&k->heard, info, &patience);
	return number > 0 ? number : 0;
}

/* ---- who ends ---- */

static bool has_ended(struct keeper *k)
{
	if (!k->ended && waitpid(k->pid, &k->status, WNOHANG) == k->pid)
		k->ended = true;
	return k->ended;
}

static bool ends_in(struct keeper *k, uint64_t ms)
{
	const uint64_t end = xc_now_ns() + ms * MS;
	for (uint64_t now; !has_ended(k) && (now = xc_now_ns()) < end;) {
		sigset_t child;
		const struct timespec left = {.tv_nsec = (long)(end - now)};
		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigtimedwait(&child, NULL, &left);
	}
	return k->ended;
}

/* Those of one that is dead are told by the kernel (PR_SET_PDEATHSIG). One that cannot die is not. */
static void kill_children(pid_t pid, int depth)
{
	xc_auto(xc_freep) pid_t *children = xc_stall_children(pid);
	for (size_t i = 0; children[i]; i++) {
		if (depth)
			kill_children(children[i], depth - 1);
		kill(children[i], SIGKILL);
	}
}

static void kill_all(struct keeper *k)
{
	if (has_ended(k))
		return;
	kill(k->pid, SIGKILL);
	if (!ends_in(k, MOMENT_MS))
		kill_children(k->pid, DEPTH);
}

/* ---- processes ---- */

/* With one table of descriptors for both. fork(2) cannot; what libc would have done beside is to note the number of the thread, at an address that
 * the kernel knows. Where that is refused it is a plain fork. */
static pid_t fork_sharing(void)
{
	pid_t *number = NULL;
	struct clone_args how = {.flags = CLONE_FILES, .exit_signal = SIGCHLD};
	if (!prctl(PR_GET_TID_ADDRESS, &number) && number && *number == getpid()) {
		how.flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
		how.child_tid = (uint64_t)(uintptr_t)number;
		const pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
		if (pid >= 0 || errno == EAGAIN || errno == ENOMEM)
			return pid;
	}
	return fork();
}

/* ---- helpers ---- */

/* Does it run, or would if a processor were free? */
static bool is_runnable(pid_t pid)
{
	char line[XC_STALL_CALL];
	const char *name_end =
		xc_stall_read(line, sizeof line, "/proc/%ld/stat", (long)pid) ? strrchr(line, ')') : NULL;
	return name_end && strncmp(name_end, ") R", 3) == 0;
}

/* Do it in another process, and wait for a moment: longer only while the machine is too busy to run it, so that no message is lost for that.
 * False: it did not come to its end. */
static bool in_helper(void (*work)(const struct keeper *k, void *user), const struct keeper *k, void *user)
{
	const pid_t parent = getpid(), pid = fork_sharing();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			work(k, user);
		_exit(0);
	}
	const uint64_t start = xc_now_ns();
	for (uint64_t took = 0; pid > 0 && took < MOMENT_MS * MS;) {
		const struct timespec nap = {.tv_nsec = (long)MS};
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		nanosleep(&nap, NULL);
		const uint64_t now = xc_now_ns();
		if (now - start >= BUSY_MS * MS)
			break;
		took += is_runnable(pid) ? 0 : MS;
	}
	if (pid > 0)
		kill(pid, SIGKILL);
	return false;
}

/* In memory that the helper has, too. */
struct words {
	const struct xc_stalled_thread *stalled;
	char name[3 * PATH_MAX];
};

static void find_name(const struct keeper *k, void *user)
{
	struct words *words = user;
	struct xc_text text = {0};
	(void)k;
	xc_stall_describe(words->stalled, &text);
	snprintf(words->name, sizeof words->name, "%s", xc_text_string(&text));
}

static void write_text(const struct keeper *k, void *user)
{
	const struct xc_text *text = user;
	(void)k;
	if (write(STDERR_FILENO, text->bytes, text->len) < 0)
		errno = 0; /* nobody hears it */
}

static void say(const struct keeper *k, const struct xc_text *text)
{
	in_helper(write_text, k, (void *)(uintptr_t)text);
}

/* Where a line of progress stands, in its place. */
static void begin_line(const struct keeper *k, struct xc_text *text)
{
	if (atomic_load(&k->told->shows_progress))
		xc_text_add(text, "\r\033[K");
}

/* "xcore: PATH", as it is shown. */
static void add_name(const struct keeper *k, const struct xc_stalled_thread *stalled, struct xc_text *text)
{
	struct words *words = mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	begin_line(k, text);
	xc_text_add(text, "xcore: ");
	const size_t before = text->len;
	if (words != MAP_FAILED) {
		words->stalled = stalled;
		in_helper(find_name, k, words);
		words->name[sizeof words->name - 1] = '\0';
		xc_text_name(text, words->name);
		munmap(words, sizeof *words);
	}
	if (text->len == before)
		xc_text_add(text, "a file");
}

/* ---- the end ---- */

static void remove_asides(const struct keeper *k, void *user)
{
	(void)user;
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++) {
		char *path = k->told->tempfiles[i].path;
		path[PATH_MAX - 1] = '\0';
		if (atomic_load(&k->told->tempfiles[i].complete) && xc_shared_status_is_tempfile(path, k->pid))
			unlink(path);
	}
}

/* Is it no file? Then nothing that is asked of it is asked of a file system. */
static bool is_stream(int fd)
{
	char name[PATH_MAX];
	xc_stall_descriptor(getpid(), fd, name);
	return *name && (!xc_stall_is_file(name) || fcntl(fd, F_GETPIPE_SZ) >= 0);
}

/* Who reads them waits for no more. A file is left open, for who has it, too, to close. */
static void close_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (is_stream(fd))
			close(fd);
}

static void save_terminal(struct keeper *k)
{
	k->has_terminal = is_stream(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &k->terminal);
}

static void restore_terminal(const struct keeper *k)
{
	struct termios now;
	if (k->has_terminal && tcgetpgrp(STDIN_FILENO) == getpgrp() && !tcgetattr(STDIN_FILENO, &now) &&
	    memcmp(&now, &k->terminal, sizeof now) != 0)
		tcsetattr(STDIN_FILENO, TCSANOW, &k->terminal);
}

static void clean_up(struct keeper *k)
{
	struct xc_text text = {0};
	kill_all(k);
	restore_terminal(k);
	begin_line(k, &text);
	if (text.len)
		say(k, &text);
	xc_text_fini(&text);
	close_streams();
	in_helper(remove_asides, k, NULL);
}

/* As the other one did; of its core there is one already. */
_Noreturn static void end_by(const struct keeper *k, int number)
{
	const struct rlimit none = {0};
	sigset_t set = k->before;
	sigdelset(&set, number);
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	kill(getpid(), number);
	sigprocmask(SIG_SETMASK, &set, NULL);
	_exit(128 + number); /* the first process of a container does not end by signals */
}

_Noreturn static void end_as(struct keeper *k)
{
	if (WIFEXITED(k->status))
		_exit(WEXITSTATUS(k->status));
	clean_up(k);
	end_by(k, WTERMSIG(k->status));
}

_Noreturn static void end_now(struct keeper *k, const struct xc_stalled_thread *stalled)
{
	struct xc_text text = {0};
	if (stalled)
		add_name(k, stalled, &text);
	else
		begin_line(k, &text);
	xc_text_add(&text, stalled ? ": no answer: not waited for\n" : "xcore: interrupted\n");
	say(k, &text);
	clean_up(k);
	end_by(k, k->ending);
}

/* ---- files that do not answer ---- */

static void add_time(struct xc_text *text, uint64_t seconds)
{
	xc_text_printf(text, ": no answer for %" PRIu64 " second%s: ", seconds, seconds == 1 ? "" : "s");
}

/* A file that the answer can do without, before anything of it could be seen. Its directory, malloc'ed; NULL: none of those. */
static char *can_do_without(const struct keeper *k, const struct xc_stalled_thread *stalled)
{
	char sought[PATH_MAX];
	if (!atomic_load(&k->told->restartable) || atomic_load(&k->told->opening_tid) != stalled->tid ||
	    k->silent_count == XC_SHARED_UNRESPONSIVE)
		return NULL;
	memcpy(sought, k->told->opening_path, sizeof sought); /* from now on it is what it is, whatever the other one does */
	sought[sizeof sought - 1] = '\0';
	char *slash = strrchr(sought, '/');
	return slash ? xc_asprintf("%.*s", (int)(slash - sought), sought) : NULL;
}

/* The other one begins anew, and asks for nothing in that directory. */
static void leave_out(struct keeper *k, const struct xc_stalled_thread *stalled, const char *directory, uint64_t seconds)
{
	struct xc_shared_status *told = k->told;
	struct xc_text text = {0};
	add_name(k, stalled, &text);
	add_time(&text, seconds);
	xc_text_add(&text, "beginning again, without what is in that directory\n");
	kill_all(k);
	say(k, &text);
	xc_text_fini(&text);
	in_helper(remove_asides, k, NULL);
	snprintf(told->unresponsive[k->silent_count++], PATH_MAX, "%s", directory);
	told->unresponsive_count = k->silent_count;
	atomic_store(&told->restartable, false);
	atomic_store(&told->opening_tid, 0);
	atomic_store(&told->shows_progress, false);
	for (size_t i = 0; i < XC_SHARED_TEMPFILES; i++) {
		atomic_store(&told->tempfiles[i].complete, false);
		atomic_store(&told->tempfiles[i].taken, false);
	}
}

_Noreturn static void give_up(struct keeper *k, const struct xc_stalled_thread *stalled, uint64_t seconds)
{
	struct xc_text text = {0};
	add_name(k, stalled, &text);
	add_time(&text, seconds);
	xc_text_add(&text, "given up\n");
	if (!atomic_load(&k->told->quiet))
		xc_text_add(&text,
			    "  hint: does its file system hang? --io-timeout SECONDS waits longer, 0 for ever\n");
	kill_all(k);
	say(k, &text);
	clean_up(k);
	_exit(XC_EXIT_INPUT);
}

static bool is_named(const struct keeper *k, const struct xc_stalled_thread *stalled)
{
	return k->named.tid == stalled->tid && k->named.since_ms == stalled->since_ms;
}

static void tell(struct keeper *k, const struct xc_stalled_thread *stalled)
{
	struct xc_text text = {0};
	add_name(k, stalled, &text);
	add_time(&text, TOLD_MS / SECOND_MS);
	xc_text_add(&text, "still waiting\n");
	say(k, &text);
	xc_text_fini(&text);
	k->named = *stalled;
}

static const struct xc_stalled_thread *longer_than(const struct keeper *k, enum xc_stall_kind kind, uint64_t ms)
{
	const struct xc_stalled_thread *longest = xc_stall_longest(&k->stall, kind);
	return longest && k->clock_ms - longest->since_ms >= ms ? longest : NULL;
}

/* False: the other one is to begin anew. */
static bool judge(struct keeper *k)
{
	const uint64_t seconds = atomic_load(&k->told->timeout_s);
	const struct xc_stalled_thread *stalled = seconds ? longer_than(k, XC_STALL_FILE, seconds * SECOND_MS) : NULL;
	if (stalled) {
		xc_auto(xc_freep) char *directory = can_do_without(k, stalled);
		if (directory)
			leave_out(k, stalled, directory, seconds);
		else
			give_up(k, stalled, seconds);
		return false;
	}
	if ((stalled = longer_than(k, XC_STALL_FILE, TOLD_MS)) && !is_named(k, stalled))
		tell(k, stalled);
	/* At a prompt it is the user who has time. */
	else if (!stalled && !atomic_load(&k->told->handles_sigint) &&
		 (stalled = longer_than(k, XC_STALL_PIPE, TOLD_MS)) && !is_named(k, stalled))
		tell(k, stalled);
	return true;
}

/* ---- while it runs ---- */

static uint64_t interval_ms(const struct keeper *k)
{
	const uint64_t patience = atomic_load(&k->told->timeout_s) * SECOND_MS;
	if (k->ending || k->asked_ms || !k->looked)
		return MOMENT_MS;
	return (patience && patience < TOLD_MS ? patience : TOLD_MS) / LOOKS;
}

/* When nothing was heard of the machine for much longer than that, we were stopped, and so may have been the other one. */
static void look(struct keeper *k)
{
	const uint64_t now = xc_now_ns(), most = 2 * interval_ms(k), passed = (now - k->looked_ns) / MS;
	k->clock_ms += passed < most ? passed : most;
	k->looked_ns = now;
	k->looked = true;
	xc_stall_scan(&k->stall, k->pid, k->clock_ms);
}

/* Kernels and users send signals to all processes of a terminal or a group: the other one may have it twice. */
static void pass_on(struct keeper *k, int number, const siginfo_t *info)
{
	if (k->ending) {
		if (k->clock_ms - k->ending_ms >= HANGS_MS)
			end_now(k, longer_than(k, XC_STALL_FILE, HANGS_MS));
		return;
	}
	if (number == SIGINT && atomic_load(&k->told->handles_sigint)) {
		if (info->si_code != SI_KERNEL)
			kill(k->pid, number);
		k->asked_ms = k->clock_ms;
		return;
	}
	kill(k->pid, number);
	k->ending = number;
	k->ending_ms = k->clock_ms;
}

/* Whoever was asked to do something, and waits for a file instead, does not come to it. */
static void hurry(struct keeper *k)
{
	const struct xc_stalled_thread *hangs = longer_than(k, XC_STALL_FILE, HANGS_MS);
	const uint64_t patience = hangs ? HANGS_MS : atomic_load(&k->told->saves_on_signal) ? SAVE_MS : END_MS;
	if (k->ending && k->clock_ms - k->ending_ms >= patience)
		end_now(k, hangs);
	if (!k->asked_ms || k->clock_ms - k->asked_ms < HANGS_MS + MOMENT_MS)
		return;
	k->asked_ms = 0;
	if (!hangs)
		return;
	k->ending = SIGINT;
	end_now(k, hangs);
}

/* Until the other one is to begin anew. */
static void live(struct keeper *k)
{
	siginfo_t info;
	bool goes_on = true;
	k->looked_ns = xc_now_ns();
	while (goes_on) {
		const int number = hear(k, interval_ms(k), &info);
		if (has_ended(k))
			end_as(k);
		if (number && number != SIGCHLD)
			pass_on(k, number, &info);
		look(k);
		hurry(k);
		goes_on = judge(k);
	}
	xc_stall_fini(&k->stall);
	k->named = (struct xc_stalled_thread){.kind = XC_STALL_NONE};
	k->asked_ms = 0;
	k->ended = k->looked = false;
}

/* ---- start ---- */

static bool is_kept; /* this process, by another one */

static void begin_work(const struct keeper *k, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(XC_EXIT_INTERNAL);
	k->told->keeper = parent;
	xc_shared_status_use(k->told);
	xc_shared_status_allow_ptrace();
	is_kept = true;
	sigprocmask(SIG_SETMASK, &k->before, NULL);
}

void xc_keeper_fork(void)
{
	static struct keeper k = {.clock_ms = 1}; /* never 0 */
	const pid_t parent = getpid();
	if (!(k.told = xc_shared_status_map()))
		return;
	choose_signals(&k);
	save_terminal(&k);
	while ((k.pid = fork_sharing()) > 0)
		live(&k);
	if (k.pid == 0)
		begin_work(&k, parent);
	else
		sigprocmask(SIG_SETMASK, &k.before, NULL);
}

void xc_keeper_close(void)
{
	fflush(NULL);
	if (!is_kept)
		return;
#ifdef SYS_close_range
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
#endif
	close(STDOUT_FILENO);
	close(STDIN_FILENO);
}
