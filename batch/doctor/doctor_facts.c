/* doctor_facts: each fact is read from a small file; without the file it is unknown. The host's name spaces have inode
 * numbers fixed by the kernel (include/linux/proc_ns.h). */
#include "batch/doctor/doctor_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/live/live_proc.h"
#include "batch/doctor/corepattern.h"

#define HOST_USERS "user:[4026531837]"
#define HOST_PIDS  "pid:[4026531836]"

struct reading {
	int root;
	struct xc_doctor_facts *facts;
	char process[32]; /* "proc/self" */
};

/* The content of a file below the root, without the last line end; NULL if it cannot be read. */
static char *content(const struct reading *r, const char *path)
{
	struct xc_text text = {0};
	if (xc_live_proc_read(r->root, path, &text)) {
		xc_text_fini(&text);
		return NULL;
	}
	if (text.len && text.bytes[text.len - 1] == '\n')
		text.bytes[text.len - 1] = '\0';
	char *copy = xc_arena_strdup(&r->facts->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return copy;
}

static char *of_process(const struct reading *r, const char *name)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", r->process, name);
	return content(r, path);
}

static struct xc_doctor_number number(const char *text, int base)
{
	char *end = NULL;
	errno = 0;
	const uint64_t value = text ? strtoull(text, &end, base) : 0;
	return (struct xc_doctor_number){text && end != text && !errno, value};
}

static const char *link_of(const struct reading *r, const char *name)
{
	char target[PATH_MAX];
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", r->process, name);
	const ssize_t len = readlinkat(r->root, path, target, sizeof target - 1);
	return len < 0 ? NULL : xc_arena_strndup(&r->facts->arena, target, (size_t)len);
}

/* The path relative to the root, also if it is absolute. */
static const char *below(const char *path)
{
	path += strspn(path, "/");
	return *path ? path : ".";
}

static bool there(const struct reading *r, const char *path, int how)
{
	return faccessat(r->root, below(path), how, AT_EACCESS) == 0;
}

/* ---- the process ---- */

static struct xc_doctor_number limit(const char *word)
{
	return strncmp(word, "unlimited", 9) ? number(word, 10) : (struct xc_doctor_number){true, XC_DOCTOR_UNLIMITED};
}

/* "Max core file size        0                    unlimited            bytes" */
static void read_limits(const struct reading *r)
{
	const char *limits = of_process(r, "limits"), *line = limits ? strstr(limits, "Max core file size") : NULL;
	if (!line)
		return;
	line += strcspn(line, "0123456789u");
	r->facts->soft = limit(line);
	line += strcspn(line, " ");
	r->facts->hard = limit(line + strspn(line, " "));
}

/* Files of a process that must not be dumped belong to root. */
static void read_owner(const struct reading *r)
{
	struct stat st;
	xc_auto(xc_freep) char *path = xc_asprintf("%s/limits", r->process);
	const char *status = of_process(r, "status"), *users = status ? xc_live_proc_field(status, "Uid") : NULL;
	r->facts->undumpable = users && number(users, 10).value && !fstatat(r->root, path, &st, 0) && !st.st_uid;
}

static void read_process(const struct reading *r)
{
	struct xc_doctor_facts *f = r->facts;
	const char *users = link_of(r, "ns/user"), *pids = link_of(r, "ns/pid");
	read_limits(r);
	read_owner(r);
	f->filter = number(of_process(r, "coredump_filter"), 16);
	f->own_users = users && strcmp(users, HOST_USERS) != 0;
	f->own_pids = pids && strcmp(pids, HOST_PIDS) != 0;
}

/* ---- where cores go ---- */

static void read_directory(const struct reading *r, const char *path)
{
	struct statvfs fs;
	struct xc_doctor_facts *f = r->facts;
	const int fd = openat(r->root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->directory_there = fd >= 0;
	f->directory_writable = there(r, path, W_OK | X_OK);
	if (fd >= 0 && !fstatvfs(fd, &fs))
		f->room = (struct xc_doctor_number){true, (uint64_t)fs.f_bavail * fs.f_frsize};
	if (fd >= 0)
		close(fd);
}

static void read_handler(const struct reading *r, const char *program)
{
	struct xc_doctor_facts *f = r->facts;
	const char *slash = strrchr(program, '/');
	f->handler = xc_arena_strdup(&f->arena, slash ? slash + 1 : program);
	f->handler_there = there(r, program, X_OK);
	f->directory = !strcmp(f->handler, "systemd-coredump") ? "/var/lib/systemd/coredump"
		       : !strcmp(f->handler, "apport")         ? "/var/crash"
							       : NULL;
	if (f->directory)
		read_directory(r, f->directory);
}

static void read_pattern(const struct reading *r)
{
	struct xc_doctor_facts *f = r->facts;
	f->pattern = content(r, "proc/sys/kernel/core_pattern");
	f->uses_pid = number(content(r, "proc/sys/kernel/core_uses_pid"), 10);
	f->pipe_limit = number(content(r, "proc/sys/kernel/core_pipe_limit"), 10);
	f->suid_dumpable = number(content(r, "proc/sys/fs/suid_dumpable"), 10);
	if (!f->pattern)
		return;
	xc_auto(xc_freep) char *place = xc_corepattern_place(f->pattern);
	xc_auto(xc_freep) char *cwd = xc_asprintf("%s/cwd", r->process);
	xc_auto(xc_freep) char *inside = xc_asprintf("%s/root%s", r->process, place ? place : "");
	switch (xc_corepattern_kind(f->pattern)) {
	case XC_COREPATTERN_PIPE:
		read_handler(r, place);
		break;
	case XC_COREPATTERN_ABSOLUTE:
		f->directory = xc_arena_strdup(&f->arena, place);
		read_directory(r, f->pid ? inside : place);
		break;
	case XC_COREPATTERN_RELATIVE:
		f->directory = link_of(r, "cwd");
		read_directory(r, cwd);
		break;
	case XC_COREPATTERN_NONE:
	case XC_COREPATTERN_SOCKET:
		break;
	}
}

/* ---- the container ---- */

static bool mentions(const char *text, const char *word)
{
	return text && strstr(text, word);
}

/* Recognised by what the engines leave behind; newer containers do not see the names of control groups. */
static const char *container_of(const struct reading *r)
{
	const char *groups = of_process(r, "cgroup");
	if (mentions(groups, "kubepods") || there(r, "var/run/secrets/kubernetes.io", F_OK))
		return "kubernetes";
	if (there(r, ".dockerenv", F_OK) || mentions(groups, "docker"))
		return "docker";
	if (there(r, "run/.containerenv", F_OK) || mentions(groups, "libpod"))
		return "podman";
	if (mentions(groups, "lxc"))
		return "lxc";
	return mentions(groups, "containerd") ? "containerd" : NULL;
}

/* A line of mountinfo: "22 27 0:21 / /proc/sys ro,nosuid - proc proc rw". */
static bool mounted_read_only(const struct reading *r, const char *where)
{
	char *next = of_process(r, "mountinfo");
	bool read_only = false;
	for (const char *line; (line = strsep(&next, "\n"));) {
		char place[64], how[16];
		if (sscanf(line, "%*s %*s %*s %*s %63s %15s", place, how) == 2 && !strcmp(place, where))
			read_only = !strncmp(how, "ro", 2) && (how[2] == ',' || !how[2]);
	}
	return read_only;
}

/* ---- all facts ---- */

struct xc_error *xc_doctor_facts_read(const char *root, int pid, struct xc_doctor_facts *facts)
{
	struct reading r = {.facts = facts, .root = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	*facts = (struct xc_doctor_facts){.pid = pid};
	if (r.root < 0)
		return xc_error_errno(errno, "%s", root ? root : "/");
	if (pid)
		snprintf(r.process, sizeof r.process, "proc/%d", pid);
	else
		strcpy(r.process, "proc/self");
	if (pid && !there(&r, r.process, F_OK)) {
		close(r.root);
		return xc_error_new(XC_ERR_NOT_FOUND, "there is no process %d", pid);
	}
	read_process(&r);
	read_pattern(&r);
	facts->container = container_of(&r);
	facts->settings_read_only = mounted_read_only(&r, "/proc/sys");
	facts->systemd = there(&r, "run/systemd/system", F_OK);
	facts->storage = xc_coredumpconf_read(r.root, &facts->arena);
	close(r.root);
	return NULL;
}

void xc_doctor_facts_fini(struct xc_doctor_facts *facts)
{
	xc_arena_fini(&facts->arena);
}
