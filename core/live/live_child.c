/* live_child: /proc/PID/stat, syscall and fd of the other process. In another pid namespace the id of a call is that of
 * another process here, or of none: the parent's id tells. The ids of /proc/PID/task/TID/children and of /proc/locks
 * are those of /proc itself. */
#include "core/live/live_child.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/live/live_facts.h"
#include "core/live/live_proc.h"
#include "core/live/sandbox.h"

enum { MOST = 16, PIPES = 2, FAMILY = 64, GENERATIONS = 2, SET_LOCK_WAIT = 7 /* F_SETLKW */ };

/* "4711 (name) S 1 …" */
static bool parse_stat(struct xc_process *p, char *stat, struct xc_child *child, pid_t *parent_out)
{
	char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	child->state = close[2];
	*close = '\0';
	xc_live_proc_unescape(open + 1);
	child->name = xc_arena_strdup(&p->arena, open + 1);
	*parent_out = (pid_t)strtol(close + 3, NULL, 10);
	return true;
}

static bool moves_data(const char *call)
{
	static const char *const begins[] = {"read", "pread", "recv", "write", "pwrite", "send"};
	for (size_t i = 0; call && i < XC_COUNT(begins); i++)
		if (strncmp(call, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static void read_call(struct xc_process *p, int dir, struct xc_child *child)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char path[4096], name[40];
	if (xc_live_proc_read(dir, "syscall", &text))
		return;
	char *at;
	long number = strtol(xc_text_string(&text), &at, 10);
	if (at == xc_text_string(&text) || number < 0)
		return;
	xc_auto(xc_freep) char *call = xc_sandbox_call_name(p->arch->machine, number);
	child->call = xc_arena_strdup(&p->arena, call);
	if (!moves_data(child->call))
		return;
	child->fd = (int)strtoull(at, NULL, 16);
	snprintf(name, sizeof name, "fd/%d", child->fd);
	ssize_t len = child->fd >= 0 ? readlinkat(dir, name, path, sizeof path - 1) : -1;
	child->file = len > 0 ? xc_arena_strndup(&p->arena, path, (size_t)len) : NULL;
}

static void find_other_end(int proc_dir, int dir, struct xc_child *child)
{
	int theirs = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int own = openat(proc_dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (theirs >= 0 && own >= 0)
		child->has_other_end = xc_live_facts_other_end(theirs, child->fd, child->file, own, &child->other_end);
	if (theirs >= 0 && !child->has_other_end)
		child->has_itself = xc_live_facts_other_end(theirs, child->fd, child->file, theirs, &child->other_end);
	if (theirs >= 0)
		close(theirs);
	if (own >= 0)
		close(own);
}

static int open_process(int proc_dir, pid_t pid)
{
	char name[40];
	snprintf(name, sizeof name, "../%d", (int)pid);
	return openat(proc_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* `parent`: that of the process; 0: any. */
static struct xc_child *look(struct xc_process *p, int proc_dir, pid_t pid, pid_t parent)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	struct xc_child child = {.pid = pid};
	pid_t its_parent;
	int dir = open_process(proc_dir, pid);
	bool good = dir >= 0 && !xc_live_proc_read(dir, "stat", &text) && text.len &&
		    parse_stat(p, text.bytes, &child, &its_parent) && (!parent || its_parent == parent);
	if (good) {
		read_call(p, dir, &child);
		if (child.file && strncmp(child.file, "pipe:[", strlen("pipe:[")) == 0)
			find_other_end(proc_dir, dir, &child);
	}
	if (dir >= 0)
		close(dir);
	if (!good)
		return NULL;
	struct xc_child *kept = xc_arena_alloc(&p->arena, sizeof *kept);
	*kept = child;
	return kept;
}

static char *call_of(const struct xc_process *p, const struct xc_thread *t)
{
	return t->call_known && t->syscall >= 0 ? xc_sandbox_call_name(p->arch->machine, t->syscall) : NULL;
}

/* ---- who has the other end of a pipe ---- */

struct family {
	pid_t pids[FAMILY];
	size_t count;
};

/* The children that a thread has made, added to the family. */
static void add_children(int tasks, pid_t tid, struct family *family)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40], *end;
	snprintf(name, sizeof name, "%d/children", (int)tid);
	if (xc_live_proc_read(tasks, name, &text))
		return;
	for (const char *at = xc_text_string(&text); family->count < FAMILY; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at)
			return;
		family->pids[family->count++] = (pid_t)pid;
	}
}

/* Children, and theirs as far as their first threads have made them: a shell between is common. */
static void find_family(const struct xc_process *p, int proc_dir, struct family *family)
{
	int tasks = openat(proc_dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; tasks >= 0 && i < p->thread_count && i < FAMILY; i++)
		add_children(tasks, p->threads[i].tid, family);
	if (tasks >= 0)
		close(tasks);
	for (size_t i = 0, end = family->count, round = 1; i < end && round < GENERATIONS; i++) {
		char name[60];
		snprintf(name, sizeof name, "../%d/task", (int)family->pids[i]);
		tasks = openat(proc_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (tasks >= 0) {
			add_children(tasks, family->pids[i], family);
			close(tasks);
		}
		if (i + 1 == end) {
			end = family->count;
			round++;
		}
	}
}

static bool has_end_of(int proc_dir, pid_t pid, const struct xc_thread *t, int *fd_out)
{
	char name[60];
	snprintf(name, sizeof name, "../%d/fd", (int)pid);
	int theirs = openat(proc_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int own = openat(proc_dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = theirs >= 0 && own >= 0 &&
		     xc_live_facts_other_end(own, (int)t->call_args[0], t->call_file, theirs, fd_out);
	if (theirs >= 0)
		close(theirs);
	if (own >= 0)
		close(own);
	return found;
}

static bool is_at_pipe(const struct xc_process *p, const struct xc_thread *t)
{
	xc_auto(xc_freep) char *call = call_of(p, t);
	return moves_data(call) && !t->has_other_end && t->call_file &&
	       strncmp(t->call_file, "pipe:[", strlen("pipe:[")) == 0;
}

static struct xc_child *find_at_pipe(struct xc_process *p, int proc_dir, const struct xc_thread *t)
{
	struct family family = {.count = 0};
	int fd;
	find_family(p, proc_dir, &family);
	for (size_t i = 0; i < family.count; i++) {
		if (!has_end_of(proc_dir, family.pids[i], t, &fd))
			continue;
		struct xc_child *child = look(p, proc_dir, family.pids[i], 0);
		if (child) {
			child->has_pipe = true;
			child->pipe = fd;
		}
		return child;
	}
	return NULL;
}

/* ---- who has a lock of a file ---- */

/* The inode of a descriptor, from /proc/PID/fdinfo: that asks no file system. 0: not known. */
static unsigned long inode_of(int proc_dir, int fd)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40];
	snprintf(name, sizeof name, "fdinfo/%d", fd);
	if (fd < 0 || xc_live_proc_read(proc_dir, name, &text))
		return 0;
	const char *at = strstr(xc_text_string(&text), "ino:");
	return at ? strtoul(at + strlen("ino:"), NULL, 10) : 0;
}

/* "1: POSIX  ADVISORY  WRITE 17 08:01:4711 0 EOF", and of a process that waits for that one
 * "1: -> POSIX  ADVISORY  WRITE 18 08:01:4711 0 EOF". */
static bool parse_lock(const char *line, bool *waits_out, long *pid_out, unsigned long *inode_out)
{
	unsigned major, minor;
	const char *arrow = strstr(line, "-> "), *colon = strchr(line, ':');
	*waits_out = arrow != NULL;
	return colon && sscanf(arrow ? arrow + 3 : colon + 1, "%*s %*s %*s %ld %x:%x:%lu", pid_out, &major, &minor,
			       inode_out) == 4;
}

static pid_t holder_in(char *locks, pid_t waiter, unsigned long inode)
{
	long pid, holder = 0;
	unsigned long at;
	bool waits;
	char *rest = NULL;
	for (char *line = strtok_r(locks, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!parse_lock(line, &waits, &pid, &at))
			holder = 0;
		else if (!waits)
			holder = pid;
		else if (pid == waiter && at == inode)
			return holder > 0 ? (pid_t)holder : 0;
	}
	return 0;
}

static bool waits_for_lock(const struct xc_process *p, const struct xc_thread *t)
{
	xc_auto(xc_freep) char *call = call_of(p, t);
	return call && (strcmp(call, "flock") == 0 || (strcmp(call, "fcntl") == 0 && t->call_args[1] == SET_LOCK_WAIT));
}

static struct xc_child *find_locker(struct xc_process *p, int proc_dir, const struct xc_thread *t)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	unsigned long inode = inode_of(proc_dir, (int)(int32_t)t->call_args[0]);
	if (!inode || xc_live_proc_read(proc_dir, "../locks", &text) || !text.len)
		return NULL;
	pid_t pid = holder_in(text.bytes, p->pid, inode);
	struct xc_child *child = pid ? look(p, proc_dir, pid, 0) : NULL;
	if (child)
		child->took_lock = true;
	return child;
}

/* ---- */

/* The process that the call waits for; 0: any, or it is no such call. */
static pid_t awaited(const struct xc_process *p, const struct xc_thread *t)
{
	xc_auto(xc_freep) char *call = call_of(p, t);
	if (call && strcmp(call, "wait4") == 0)
		return (int32_t)t->call_args[0] > 0 ? (pid_t)(int32_t)t->call_args[0] : 0;
	return call && strcmp(call, "waitid") == 0 && t->call_args[0] == P_PID ? (pid_t)(int32_t)t->call_args[1] : 0;
}

void xc_live_child_find(struct xc_process *p, int proc_dir)
{
	for (size_t i = 0, asked = 0, pipes = 0; i < p->thread_count && asked < MOST; i++) {
		struct xc_thread *t = &p->threads[i];
		pid_t pid = awaited(p, t);
		bool pipe = is_at_pipe(p, t), lock = waits_for_lock(p, t);
		if (pid > 0)
			t->child = look(p, proc_dir, pid, p->pid);
		else if (lock)
			t->child = find_locker(p, proc_dir, t);
		else if (pipe && pipes++ < PIPES)
			t->child = find_at_pipe(p, proc_dir, t);
		asked += pid > 0 || lock;
	}
}
