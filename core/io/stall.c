/* stall: /proc/PID/task/TID/syscall is one line of numbers: the call, its arguments, the stack pointer. While this line
 * and the number of voluntary context switches are unchanged, the thread is in the same call. */
#include "core/io/stall.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io/stall_calls.h"

enum { NONE = XC_STALL_NO_ARGUMENT, STATUS = 4096, DEPTH = 8 };

/* ---- a thread ---- */

/* The kernel function in which a thread sleeps identifies pipes of any kind. */
static bool waits_for_pipe(const struct xc_stalled_thread *t)
{
	char where[128];
	return xc_stall_read(where, sizeof where, "/proc/%ld/task/%ld/wchan", (long)t->pid, (long)t->tid) &&
	       (strstr(where, "pipe") || strstr(where, "fifo") || strstr(where, "wait_for_partner"));
}

static enum xc_stall_kind kind_of(const struct xc_stalled_thread *t)
{
	uint64_t arguments[XC_STALL_ARGUMENTS];
	char name[PATH_MAX];
	const struct xc_stall_call *call = xc_stall_call(t->call, arguments);
	if (!call)
		return XC_STALL_NONE;
	if (call->path == NONE && call->descriptor != NONE) {
		const int fd = (int)arguments[call->descriptor];
		xc_stall_descriptor(t->pid, fd, name);
		if (!xc_stall_is_file(name))
			return fd == STDIN_FILENO && call->number == SYS_read ? XC_STALL_PIPE : XC_STALL_NONE;
	}
	return waits_for_pipe(t) ? XC_STALL_PIPE : XC_STALL_FILE;
}

/* Asleep, not stopped: a stopped thread waits only for the one that stopped it. */
static bool is_asleep(const char *status)
{
	const char *state = strstr(status, "\nState:\t");
	return state && strchr("SD", state[strlen("\nState:\t")]);
}

static struct xc_stalled_thread look_at(pid_t pid, pid_t tid)
{
	static const char waits[] = "\nvoluntary_ctxt_switches:";
	struct xc_stalled_thread t = {.pid = pid, .tid = tid};
	char status[STATUS];
	if (!xc_stall_read(t.call, sizeof t.call, "/proc/%ld/task/%ld/syscall", (long)pid, (long)tid) ||
	    !xc_stall_read(status, sizeof status, "/proc/%ld/task/%ld/status", (long)pid, (long)tid) ||
	    !is_asleep(status))
		return t;
	const char *count = strstr(status, waits);
	if (count)
		snprintf(t.waits, sizeof t.waits, "%.*s", (int)strcspn(count + 1, "\n"), count + 1);
	t.kind = kind_of(&t);
	return t;
}

static bool is_same(const struct xc_stalled_thread *a, const struct xc_stalled_thread *b)
{
	return a->tid == b->tid && a->kind == b->kind && !strcmp(a->call, b->call) && !strcmp(a->waits, b->waits);
}

/* ---- all of them ---- */

struct look {
	const struct xc_stall *before;
	struct xc_stall now;
	size_t capacity;
	uint64_t ms;
	pid_t session;
};

static void add(struct look *look, pid_t pid, pid_t tid)
{
	struct xc_stalled_thread t = look_at(pid, tid);
	if (t.kind == XC_STALL_NONE)
		return;
	t.since_ms = look->ms;
	for (size_t i = 0; i < look->before->count; i++)
		if (is_same(&look->before->threads[i], &t))
			t.since_ms = look->before->threads[i].since_ms;
	look->now.threads = xc_grow(look->now.threads, look->now.count, &look->capacity, sizeof t);
	look->now.threads[look->now.count++] = t;
}

static DIR *open_tasks(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
	return opendir(path);
}

static void look_at_all(struct look *look, pid_t pid, int depth)
{
	DIR *tasks = open_tasks(pid);
	for (const struct dirent *e; tasks && (e = readdir(tasks));)
		if (e->d_name[0] != '.')
			add(look, pid, (pid_t)atol(e->d_name));
	if (tasks)
		closedir(tasks);
	if (!depth)
		return;
	xc_auto(xc_freep) pid_t *children = xc_stall_children(pid);
	for (size_t i = 0; children[i]; i++)
		if (getsid(children[i]) == look->session)
			look_at_all(look, children[i], depth - 1);
}

void xc_stall_scan(struct xc_stall *stall, pid_t pid, uint64_t now_ms)
{
	struct look look = {.before = stall, .ms = now_ms, .session = getsid(pid)};
	look_at_all(&look, pid, DEPTH);
	free(stall->threads);
	*stall = look.now;
}

const struct xc_stalled_thread *xc_stall_longest(const struct xc_stall *stall, enum xc_stall_kind kind)
{
	const struct xc_stalled_thread *longest = NULL;
	for (size_t i = 0; i < stall->count; i++) {
		const struct xc_stalled_thread *t = &stall->threads[i];
		if (t->kind == kind && (!longest || t->since_ms < longest->since_ms))
			longest = t;
	}
	return longest;
}

void xc_stall_fini(struct xc_stall *stall)
{
	free(stall->threads);
	*stall = (struct xc_stall){.count = 0};
}

/* ---- processes ---- */

struct children {
	pid_t *pids;
	size_t count, capacity;
};

static void add_child(struct children *children, pid_t pid)
{
	children->pids = xc_grow(children->pids, children->count, &children->capacity, sizeof pid);
	children->pids[children->count++] = pid;
}

/* The kernel lists children by the thread that created them. */
static void add_children(struct children *children, pid_t pid, const char *thread)
{
	char line[1 << 14], *end;
	xc_stall_read(line, sizeof line, "/proc/%ld/task/%.16s/children", (long)pid, thread);
	for (char *at = line; *at >= '0' && *at <= '9'; at = end + (*end == ' '))
		add_child(children, (pid_t)strtol(at, &end, 10));
}

pid_t *xc_stall_children(pid_t pid)
{
	struct children children = {.count = 0};
	DIR *tasks = open_tasks(pid);
	for (const struct dirent *e; tasks && (e = readdir(tasks));)
		if (e->d_name[0] != '.')
			add_children(&children, pid, e->d_name);
	if (tasks)
		closedir(tasks);
	add_child(&children, 0);
	return children.pids;
}
