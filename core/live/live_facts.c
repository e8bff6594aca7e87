/* live_facts: identity, threads and command line of a running process, from the text files of /proc.
 *
 * pc and sp of a blocked thread come from /proc/PID/task/TID/syscall, which the kernel fills without stopping the
 * thread (task_current_syscall, lib/syscall.c):
 *
 * 	running                                     on a CPU, or it woke meanwhile
 * 	-1 0xSP 0xPC                                blocked, but in no system call: page fault, stopped by a signal
 * 	202 0xA0 0xA1 0xA2 0xA3 0xA4 0xA5 0xSP 0xPC  blocked in system call 202
 *
 * pc is after the system call instruction. The arguments are in registers (arch.h); the others are unknown. Formats:
 * proc(5), man-pages 6.03. */
#include "core/live/live_facts.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cursor.h"
#include "core/live/live_proc.h"
#include "core/process/notes.h"
#include "core/live/sandbox.h"

enum { MAX_THREADS = 1 << 20, MAX_ARGS = 128 << 10, MAX_FD = 1 << 20, MAX_FDS = 1 << 14, MAX_PIPES = 32 };

/* ---- identity ---- */

static void parse_ids(const char *text, unsigned ids[3])
{
	if (text)
		(void)!sscanf(text, "%u %u %u", &ids[0], &ids[1], &ids[2]);
}

static long parse_number(const char *text)
{
	return text ? strtol(text, NULL, 10) : 0;
}

static void copy_name(const char *value, char *name, size_t size)
{
	size_t len = value ? strcspn(value, "\n") : 0;
	if (len >= size)
		len = size - 1;
	memcpy(name, value ? value : "", len);
	name[len] = '\0';
	xc_live_proc_unescape(name);
}

static void parse_status(const char *status, struct xc_live_identity *id)
{
	const char *state = xc_live_proc_field(status, "State"), *caps = xc_live_proc_field(status, "CapPrm");
	const char *kthread = xc_live_proc_field(status, "Kthread"); /* since 6.10 */
	id->tgid = (pid_t)parse_number(xc_live_proc_field(status, "Tgid"));
	id->ppid = (pid_t)parse_number(xc_live_proc_field(status, "PPid"));
	id->state = state ? *state : '?';
	id->caps = caps ? strtoull(caps, NULL, 16) : 0;
	id->has_memory = xc_live_proc_field(status, "VmSize") != NULL;
	id->kernel_thread = kthread ? *kthread == '1' : !id->has_memory && id->state != 'Z' && id->state != 'X';
	parse_ids(xc_live_proc_field(status, "Uid"), id->uids);
	parse_ids(xc_live_proc_field(status, "Gid"), id->gids);
	copy_name(xc_live_proc_field(status, "Name"), id->name, sizeof id->name);
}

struct xc_error *xc_live_facts_identity(int proc_dir, pid_t pid, struct xc_live_identity *identity_out)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	int error = xc_live_proc_read(proc_dir, "status", &text);
	if (error == ESRCH || error == ENOENT)
		return xc_error_new(XC_ERR_NOT_FOUND, "pid:%d: no such process; it has just exited", (int)pid);
	if (error)
		return xc_error_hint(xc_error_errno(error, "/proc/%d/status", (int)pid),
				     "/proc may be mounted with hidepid: run as that user or as root");
	*identity_out = (struct xc_live_identity){.pid = pid};
	parse_status(xc_text_string(&text), identity_out);
	return NULL;
}

/* ---- threads ---- */

/* "4711 (a) name) S 1 …": the name may contain anything, so it ends at the last parenthesis. */
static void parse_stat(struct xc_process *p, struct xc_thread *t, char *stat)
{
	char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	if (!open || !close || close < open || close[1] != ' ')
		return;
	*close = '\0';
	xc_live_proc_unescape(open + 1);
	t->name = xc_arena_strdup(&p->arena, open + 1);
	t->state = close[2];
}

static const char *how_text(struct xc_process *p, const struct xc_thread *t)
{
	const bool stopped = xc_thread_is_stopped(t);
	if (t->syscall < 0)
		return stopped ? "stopped by a signal, outside a system call"
			       : "blocked outside a system call (a page fault or a signal stop)";
	xc_auto(xc_freep) char *name = xc_sandbox_call_name(p->arch->machine, t->syscall);
	return xc_arena_printf(&p->arena, "%s system call %ld (%s)", stopped ? "in or behind" : "blocked in",
			       t->syscall, name ? name : "unknown");
}

/* The call's arguments are in their registers, but not if a 64-bit program made a 32-bit call (int $0x80). */
static void take_arguments(const struct xc_process *p, struct xc_thread *t, xc_addr pc)
{
	const struct xc_arch *arch = p->arch;
	uint8_t code[2];
	if (!arch->call_registers || xc_space_peek(p->space, pc - sizeof code, code, sizeof code) != sizeof code ||
	    memcmp(code, arch->call_code, sizeof code) != 0)
		return;
	for (size_t i = 0; i < XC_COUNT(t->call_args); i++)
		xc_regs_set(&t->regs, arch->call_registers[i], t->call_args[i]);
}

/* Parses the number, six arguments, sp and pc; without a call: -1, sp and pc. */
bool xc_live_facts_call(const struct xc_process *p, struct xc_thread *t, const char *text)
{
	unsigned long long words[9];
	char *end;
	long number = strtol(text, &end, 10);
	size_t count = 0;
	for (const char *at = end; count < XC_COUNT(words); at = end) {
		words[count] = strtoull(at, &end, 16);
		if (end == at)
			break;
		count++;
	}
	if (end == text || (count != 2 && count != 8) || p->arch->pc < 0 || p->arch->sp < 0)
		return false;
	t->syscall = number >= 0 ? number : -1;
	t->call_known = number >= 0 && count == 8;
	for (size_t i = 0; t->call_known && i < XC_COUNT(t->call_args); i++)
		t->call_args[i] = words[i];
	if (t->call_known)
		take_arguments(p, t, words[count - 1]);
	xc_regs_set(&t->regs, p->arch->sp, words[count - 2]);
	xc_regs_set(&t->regs, p->arch->pc, words[count - 1]);
	t->has_regs = true;
	return true;
}

static void parse_syscall(struct xc_process *p, struct xc_thread *t, const char *text)
{
	if (xc_live_facts_call(p, t, text))
		t->regs_how = how_text(p, t);
	else
		t->why_no_regs = "what the kernel says about its registers could not be read";
}

/* For kernels without CONFIG_SCHED_INFO, where schedstat is 0. */
static uint64_t switches(int task_dir, pid_t tid)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40];
	snprintf(name, sizeof name, "%d/status", (int)tid);
	if (xc_live_proc_read(task_dir, name, &text))
		return 0;
	const char *status = xc_text_string(&text);
	return (uint64_t)parse_number(xc_live_proc_field(status, "voluntary_ctxt_switches")) +
	       (uint64_t)parse_number(xc_live_proc_field(status, "nonvoluntary_ctxt_switches"));
}

bool xc_live_facts_schedule(int task_dir, pid_t tid, struct xc_live_schedule *schedule_out)
{
	char name[40], text[80];
	snprintf(name, sizeof name, "%d/schedstat", (int)tid);
	const int fd = openat(task_dir, name, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	char *at = text;
	schedule_out->ran_ns = strtoull(at, &at, 10);
	schedule_out->queued_ns = strtoull(at, &at, 10);
	schedule_out->runs = strtoull(at, &at, 10);
	if (got > 0 && !schedule_out->runs)
		schedule_out->runs = switches(task_dir, tid);
	return got > 0;
}

uint64_t xc_live_facts_ran(int task_dir, pid_t tid, uint64_t *waited_out)
{
	struct xc_live_schedule schedule;
	if (!xc_live_facts_schedule(task_dir, tid, &schedule))
		return 0;
	if (waited_out)
		*waited_out = schedule.queued_ns;
	return schedule.ran_ns;
}

static const char *descriptor(struct xc_process *p, int task_dir, const struct xc_thread *t)
{
	char name[60], path[4096];
	snprintf(name, sizeof name, "%d/fd/%llu", (int)t->tid, (unsigned long long)t->call_args[0]);
	ssize_t len = readlinkat(task_dir, name, path, sizeof path - 1);
	return len > 0 ? xc_arena_strndup(&p->arena, path, (size_t)len) : NULL;
}

static void read_registers(struct xc_process *p, struct xc_thread *t, int task_dir)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40];
	if (t->state == 'Z' || t->state == 'X') {
		t->why_no_regs = "the thread has exited";
		return;
	}
	t->ran = xc_live_facts_ran(task_dir, t->tid, &t->waited);
	snprintf(name, sizeof name, "%d/syscall", (int)t->tid);
	int error = xc_live_proc_read(task_dir, name, &text);
	if (error == ENOENT)
		t->why_no_regs = "the thread has exited, or this kernel does not show where threads are blocked";
	else if (error)
		t->why_no_regs =
			error == ESRCH ? "the thread has exited" : "the kernel refused to say where it is blocked";
	else if (!strncmp(xc_text_string(&text), "running", 7))
		t->why_no_regs = "running on a CPU: its registers are not in memory";
	else
		parse_syscall(p, t, xc_text_string(&text));
	if (t->call_known && t->call_args[0] < MAX_FD)
		t->call_file = descriptor(p, task_dir, t);
}

/* ---- pipes ---- */

/* The ends of a pipe have the same name. Which one it is, the mode of the link shows. */
static bool is_end(int fds, const char *number, const char *pipe, mode_t *mode_out)
{
	char path[64];
	struct stat info;
	ssize_t len = readlinkat(fds, number, path, sizeof path - 1);
	if (len <= 0 || (size_t)len != strlen(pipe) || memcmp(path, pipe, (size_t)len) != 0 ||
	    fstatat(fds, number, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	*mode_out = info.st_mode & (S_IRUSR | S_IWUSR);
	return true;
}

bool xc_live_facts_other_end(int fds, int fd, const char *pipe, int other_fds, int *other_out)
{
	char own[32];
	mode_t mine, other;
	const struct dirent *entry;
	const int again = openat(other_fds, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = again >= 0 ? fdopendir(again) : NULL;
	bool found = false;
	snprintf(own, sizeof own, "%d", fd);
	bool is_one = is_end(fds, own, pipe, &mine) && mine != (S_IRUSR | S_IWUSR);
	for (size_t n = 0; all && is_one && n < MAX_FDS && !found && (entry = readdir(all)); n++) {
		if (!is_end(other_fds, entry->d_name, pipe, &other) || (other | mine) == mine)
			continue;
		*other_out = atoi(entry->d_name);
		found = true;
	}
	if (all)
		closedir(all);
	else if (again >= 0)
		close(again);
	return found;
}

static void find_other_ends(struct xc_process *p, int proc_dir)
{
	const int fds = openat(proc_dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t asked = 0;
	for (size_t i = 0; fds >= 0 && i < p->thread_count && asked < MAX_PIPES; i++) {
		struct xc_thread *t = &p->threads[i];
		if (!t->call_file || strncmp(t->call_file, "pipe:[", strlen("pipe:[")) != 0)
			continue;
		t->has_other_end = xc_live_facts_other_end(fds, (int)t->call_args[0], t->call_file, fds, &t->other_end);
		asked++;
	}
	if (fds >= 0)
		close(fds);
}

static bool read_thread(struct xc_process *p, struct xc_thread *t, int task_dir, pid_t tid)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40];
	snprintf(name, sizeof name, "%d/stat", (int)tid);
	if (xc_live_proc_read(task_dir, name, &text) || !text.len)
		return false; /* it ended since it was listed */
	*t = (struct xc_thread){.tid = tid, .syscall = -1};
	parse_stat(p, t, text.bytes);
	read_registers(p, t, task_dir);
	return true;
}

static int open_tasks(int proc_dir)
{
	return openat(proc_dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void xc_live_facts_threads(struct xc_process *p, int proc_dir)
{
	const int tasks = open_tasks(proc_dir);
	size_t count = 0;
	xc_auto(xc_freep) pid_t *tids = tasks >= 0 ? xc_live_proc_tids(tasks, MAX_THREADS, &count) : NULL;
	p->threads = xc_alloc((count ? count : 1) * sizeof *p->threads);
	for (size_t i = 0; i < count; i++)
		p->thread_count += read_thread(p, &p->threads[p->thread_count], tasks, tids[i]);
	if (tasks >= 0)
		close(tasks);
	find_other_ends(p, proc_dir);
	if (count == MAX_THREADS)
		xc_process_remark(p, "only the first %d threads are shown", MAX_THREADS);
}

static bool has_memory(int tasks, pid_t tid)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	struct xc_live_identity id = {0};
	char name[40];
	snprintf(name, sizeof name, "%d/status", (int)tid);
	if (!xc_live_proc_read(tasks, name, &text))
		parse_status(xc_text_string(&text), &id);
	return id.has_memory;
}

pid_t xc_live_facts_living_thread(int proc_dir)
{
	const int tasks = open_tasks(proc_dir);
	pid_t found = 0;
	size_t count = 0;
	xc_auto(xc_freep) pid_t *tids = tasks >= 0 ? xc_live_proc_tids(tasks, MAX_THREADS, &count) : NULL;
	for (size_t i = 0; i < count && !found; i++)
		found = has_memory(tasks, tids[i]) ? tids[i] : 0;
	if (tasks >= 0)
		close(tasks);
	return found;
}

/* ---- command line, executable, auxiliary vector ---- */

static void read_arguments(struct xc_process *p, int dir)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	if (xc_live_proc_read(dir, "cmdline", &text) || !text.len)
		return;
	size_t len = text.len > MAX_ARGS ? MAX_ARGS : text.len;
	while (len && !text.bytes[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (!text.bytes[i])
			text.bytes[i] = ' ';
	p->args = xc_arena_strndup(&p->arena, text.bytes, len);
}

static void read_executable(struct xc_process *p, int dir)
{
	static const char suffix[] = " (deleted)";
	char path[4096];
	ssize_t len = readlinkat(dir, "exe", path, sizeof path - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	size_t cut = (size_t)len - (sizeof suffix - 1);
	if ((size_t)len > sizeof suffix - 1 && !strcmp(path + cut, suffix))
		path[cut] = '\0';
	p->exe_path = xc_arena_strdup(&p->arena, path);
}

/* The machine is that of the program file: a 32-bit program may run on a 64-bit kernel. */
static void read_machine(struct xc_process *p, int dir)
{
	unsigned char head[20];
	int fd = openat(dir, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
	if (fd >= 0)
		close(fd);
	const struct xc_arch *arch = NULL;
	if (got == sizeof head && !memcmp(head, ELFMAG, SELFMAG)) {
		bool big_endian = head[EI_DATA] == ELFDATA2MSB;
		arch = xc_arch_find((uint16_t)xc_load_uint(head + 18, 2, big_endian), head[EI_CLASS], big_endian);
	}
	if (arch)
		p->arch = arch;
	else
		xc_process_remark(
			p, "the program's own file cannot be read: it is taken for a program of this machine (%s)",
			p->arch->name);
	xc_space_set_big_endian(p->space, p->arch->big_endian);
}

static void read_auxv(struct xc_process *p, int dir)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	size_t word = p->arch->word;
	if (xc_live_proc_read(dir, "auxv", &text))
		return;
	for (size_t at = 0; text.len - at >= 2 * word; at += 2 * word) {
		uint64_t type = xc_load_uint(text.bytes + at, word, p->arch->big_endian);
		if (type == AT_NULL)
			break;
		if (type >= XC_COUNT(p->auxv))
			continue;
		p->auxv[type] = xc_load_uint(text.bytes + at + word, word, p->arch->big_endian);
		p->auxv_known |= UINT64_C(1) << type;
	}
}

void xc_live_facts_read(struct xc_process *p, int dir)
{
	read_machine(p, dir);
	read_executable(p, dir);
	read_arguments(p, dir);
	read_auxv(p, dir);
}
