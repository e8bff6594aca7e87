/* live_child: /proc/PID/stat, syscall and fd of the child. In another pid namespace the id of the call is that of
 * another process here, or of none: the parent's id tells. */
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

enum { MOST = 16 };

/* "4711 (name) S 1 …" */
static bool parse_stat(struct xc_process *p, char *stat, struct xc_child *child)
{
	char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	child->state = close[2];
	*close = '\0';
	xc_live_proc_unescape(open + 1);
	child->name = xc_arena_strdup(&p->arena, open + 1);
	return strtol(close + 3, NULL, 10) == p->pid;
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

static const struct xc_child *look(struct xc_process *p, int proc_dir, pid_t pid)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	struct xc_child child = {.pid = pid};
	char name[40];
	snprintf(name, sizeof name, "../%d", (int)pid);
	int dir = openat(proc_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = dir >= 0 && !xc_live_proc_read(dir, "stat", &text) && text.len && parse_stat(p, text.bytes, &child);
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

/* The process that the call waits for; 0: any, or it is no such call. */
static pid_t awaited(const struct xc_process *p, const struct xc_thread *t)
{
	xc_auto(xc_freep) char *call =
		t->call_known && t->syscall >= 0 ? xc_sandbox_call_name(p->arch->machine, t->syscall) : NULL;
	if (call && strcmp(call, "wait4") == 0)
		return (int32_t)t->call_args[0] > 0 ? (pid_t)(int32_t)t->call_args[0] : 0;
	return call && strcmp(call, "waitid") == 0 && t->call_args[0] == P_PID ? (pid_t)(int32_t)t->call_args[1] : 0;
}

void xc_live_child_find(struct xc_process *p, int proc_dir)
{
	for (size_t i = 0, asked = 0; i < p->thread_count && asked < MOST; i++) {
		pid_t pid = awaited(p, &p->threads[i]);
		if (pid <= 0)
			continue;
		p->threads[i].child = look(p, proc_dir, pid);
		asked++;
	}
}
