/* stall: what the thread does is one line of numbers: of the call, its arguments, the stack. While the line and the count of its waits stay
 * the same, it is in the same call. A path is read from our own memory by a file of /proc, since the other thread may go on meanwhile. */
#include "stall.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "text.h"

enum { LOOKS = 4, LINE = 256, ARGUMENTS = 6, NONE = -1 };

/* Which arguments say what a call is about: a descriptor, of a directory where there is a path, too. */
static const struct call {
	long number;
	int descriptor, path;
} calls[] = {
#ifdef SYS_open
	{SYS_open, NONE, 0},      {SYS_stat, NONE, 0},
	{SYS_lstat, NONE, 0},     {SYS_access, NONE, 0},
	{SYS_readlink, NONE, 0},  {SYS_mkdir, NONE, 0},
	{SYS_rmdir, NONE, 0},     {SYS_unlink, NONE, 0},
	{SYS_rename, NONE, 1},    {SYS_chmod, NONE, 0},
	{SYS_link, NONE, 1},
#endif
	{SYS_openat, 0, 1},       {SYS_openat2, 0, 1},
	{SYS_newfstatat, 0, 1},   {SYS_statx, 0, 1},
	{SYS_faccessat, 0, 1},    {SYS_readlinkat, 0, 1},
	{SYS_mkdirat, 0, 1},      {SYS_unlinkat, 0, 1},
	{SYS_renameat, 2, 3},     {SYS_renameat2, 2, 3},
	{SYS_linkat, 2, 3},       {SYS_utimensat, 0, 1},
	{SYS_statfs, NONE, 0},    {SYS_getxattr, NONE, 0},
	{SYS_chdir, NONE, 0},     {SYS_read, 0, NONE},
	{SYS_pread64, 0, NONE},   {SYS_readv, 0, NONE},
	{SYS_write, 0, NONE},     {SYS_pwrite64, 0, NONE},
	{SYS_writev, 0, NONE},    {SYS_getdents64, 0, NONE},
	{SYS_fstat, 0, NONE},     {SYS_fstatfs, 0, NONE},
	{SYS_fsync, 0, NONE},     {SYS_fdatasync, 0, NONE},
	{SYS_ftruncate, 0, NONE}, {SYS_fallocate, 0, NONE},
	{SYS_flock, 0, NONE},     {SYS_lseek, 0, NONE},
	{SYS_fgetxattr, 0, NONE}, {SYS_fchmod, 0, NONE},
	{SYS_fchown, 0, NONE},    {SYS_copy_file_range, 0, NONE},
};

/* What the thread does, and how often it has waited. */
struct doing {
	char line[LINE];
	char waits[LINE];
};

static struct watch {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ends;
	bool runs, over, rests;
	long tid;
	uint64_t patience_ns;
} watch;

/* ---- what the kernel tells ---- */

static bool read_own(const char *format, long tid, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, format, tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* False where it is not told, or does not wait in a call. */
static bool look(struct doing *now)
{
	char status[4096];
	*now = (struct doing){.line = ""};
	if (!read_own("/proc/self/task/%ld/syscall", watch.tid, now->line, sizeof now->line) ||
	    !read_own("/proc/self/task/%ld/status", watch.tid, status, sizeof status))
		return false;
	const char *waits = strstr(status, "\nvoluntary_ctxt_switches:");
	if (waits)
		snprintf(now->waits, sizeof now->waits, "%.*s", (int)strcspn(waits + 1, "\n"), waits + 1);
	return now->line[0] >= '0' && now->line[0] <= '9';
}

static bool is_same(const struct doing *a, const struct doing *b)
{
	return !strcmp(a->line, b->line) && !strcmp(a->waits, b->waits);
}

/* ---- what it is about ---- */

static void read_path(uint64_t addr, char path[PATH_MAX])
{
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : pread(fd, path, PATH_MAX - 1, (off_t)addr);
	if (fd >= 0)
		close(fd);
	path[n > 0 ? n : 0] = '\0';
}

/* By its name only: to ask the file itself may take as long. */
static void name_of(int fd, char name[PATH_MAX])
{
	char path[32];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(path, name, PATH_MAX - 1);
	name[n > 0 ? n : 0] = '\0';
}

static bool is_below(const char *name, const char *dir)
{
	return !strncmp(name, dir, strlen(dir));
}

static bool is_file(const char *name)
{
	return name[0] == '/' && (!is_below(name, "/dev/") || is_below(name, "/dev/shm/"));
}

/* What the call waits for; false when that is no file. */
static bool describe(const struct call *call, const uint64_t arguments[ARGUMENTS], struct xc_text *text)
{
	const int fd = call->descriptor == NONE ? AT_FDCWD : (int)arguments[call->descriptor];
	char path[PATH_MAX] = "", name[PATH_MAX] = "";
	if (call->path != NONE)
		read_path(arguments[call->path], path);
	if (fd >= 0 && path[0] != '/')
		name_of(fd, name);
	if (call->path == NONE && fd == STDIN_FILENO && !is_file(name)) {
		xc_text_add(text, "standard input");
		return call->number == SYS_read;
	}
	xc_text_name(text, name);
	if (*name && *path)
		xc_text_add(text, "/");
	xc_text_name(text, path);
	return *path || is_file(name);
}

static bool what_for(const struct doing *doing, struct xc_text *text)
{
	uint64_t arguments[ARGUMENTS];
	char *at;
	const long number = strtol(doing->line, &at, 10);
	for (size_t i = 0; i < ARGUMENTS; i++)
		arguments[i] = strtoull(at, &at, 16);
	for (size_t i = 0; i < XC_COUNT(calls); i++)
		if (calls[i].number == number)
			return describe(&calls[i], arguments, text);
	return false;
}

static void tell(const struct doing *doing)
{
	struct xc_text text = {0};
	xc_text_add(&text, isatty(STDERR_FILENO) ? "\r\033[Kxcore: " : "xcore: "); /* in the place of how far it is */
	if (what_for(doing, &text)) {
		xc_text_printf(&text, ": no answer for %" PRIu64 " seconds: still waiting\n",
			       watch.patience_ns / UINT64_C(1000000000));
		if (write(STDERR_FILENO, text.bytes, text.len) < 0)
			text.len = 0; /* nobody hears it */
	}
	xc_text_fini(&text);
}

/* ---- the thread ---- */

/* True when the watch is over. */
static bool sleep_until(uint64_t ns)
{
	const struct timespec end = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
	pthread_mutex_lock(&watch.lock);
	int number = 0;
	while (!watch.over && !number)
		number = pthread_cond_timedwait(&watch.ends, &watch.lock, &end);
	const bool over = watch.over;
	pthread_mutex_unlock(&watch.lock);
	return over;
}

static void *stay_beside(void *unused)
{
	struct doing last = {.line = ""}, now;
	uint64_t since = xc_now_ns();
	bool told = false;
	while (!sleep_until(xc_now_ns() + watch.patience_ns / LOOKS)) {
		if (!look(&now) || !is_same(&now, &last)) {
			since = xc_now_ns();
			told = false;
		} else if (!told && xc_now_ns() - since >= watch.patience_ns) {
			tell(&now);
			told = true;
		}
		last = now;
	}
	return unused;
}

static void begin(void)
{
	sigset_t all, before;
	sigfillset(&all); /* signals are for who was there before */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watch.over = false;
	watch.runs = pthread_create(&watch.thread, NULL, stay_beside, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- forks: a child of several threads may find locks held by one that it has not ---- */

static void before_fork(void)
{
	watch.rests = watch.runs;
	xc_stall_stop();
}

static void after_fork(void)
{
	if (watch.rests)
		begin();
	watch.rests = false;
}

static void in_child(void)
{
	watch.rests = false;
}

void xc_stall_start(unsigned milliseconds)
{
	static bool knows_forks;
	pthread_condattr_t clock;
	watch = (struct watch){.tid = syscall(SYS_gettid), .patience_ns = milliseconds * UINT64_C(1000000)};
	pthread_mutex_init(&watch.lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&watch.ends, &clock);
	pthread_condattr_destroy(&clock);
	if (!knows_forks)
		knows_forks = pthread_atfork(before_fork, after_fork, in_child) == 0;
	if (knows_forks)
		begin();
}

void xc_stall_stop(void)
{
	if (!watch.runs)
		return;
	pthread_mutex_lock(&watch.lock);
	watch.over = true;
	pthread_cond_signal(&watch.ends);
	pthread_mutex_unlock(&watch.lock);
	pthread_join(watch.thread, NULL);
	watch.runs = false;
}
