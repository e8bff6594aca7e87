/* stall_describe: paths are read from the memory of the blocked thread. For a page fault only the mapped files are
 * known, one of which is the cause: most likely one on a file system that depends on a network or on another
 * process. */
#include "core/io/stall.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/io/stall_calls.h"

enum { NONE = XC_STALL_NO_ARGUMENT, SHOWN = 3 };

/* ---- a call ---- */

static void read_path(pid_t pid, uint64_t addr, char path[PATH_MAX])
{
	char memory[64];
	snprintf(memory, sizeof memory, "/proc/%ld/mem", (long)pid);
	const int fd = open(memory, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : pread(fd, path, PATH_MAX - 1, (off_t)addr);
	if (fd >= 0)
		close(fd);
	path[n > 0 ? n : 0] = '\0';
}

/* A path below /proc/self/fd (opener.c) is the file of that descriptor. */
static bool name_again(pid_t pid, const char *path, struct xc_text *text)
{
	static const char self[] = "/proc/self/fd/";
	char name[PATH_MAX] = "";
	if (xc_begins_with(path, self))
		xc_stall_descriptor(pid, atoi(path + strlen(self)), name);
	xc_text_add(text, name);
	return *name;
}

/* For openat2 even an absolute path is below the directory (opener.c). */
static void name_file(const struct xc_stalled_thread *t, const struct xc_stall_call *call, const uint64_t *arguments,
		      struct xc_text *text)
{
	const int fd = call->descriptor == NONE ? AT_FDCWD : (int)arguments[call->descriptor];
	const bool below = call->number == SYS_openat2;
	char path[PATH_MAX] = "", name[PATH_MAX] = "";
	if (call->path != NONE)
		read_path(t->pid, arguments[call->path], path);
	if (name_again(t->pid, path, text))
		return;
	if (fd >= 0 && (path[0] != '/' || below))
		xc_stall_descriptor(t->pid, fd, name);
	if (!strcmp(name, "/"))
		*name = '\0';
	xc_text_add(text, name);
	if (*name && *path && *path != '/')
		xc_text_add(text, "/");
	xc_text_add(text, path);
}

/* ---- a fault ---- */

struct mapped {
	dev_t dev;
	char *path;
	bool runs;   /* it is executable code */
	bool remote; /* its file system depends on a network or another process */
};

struct mapping {
	struct mapped *files;
	size_t count, capacity;
};

static void add_file(struct mapping *mapping, const char *path, dev_t dev, bool runs)
{
	for (size_t i = 0; i < mapping->count; i++) {
		if (strcmp(mapping->files[i].path, path) != 0)
			continue;
		mapping->files[i].runs |= runs;
		return;
	}
	mapping->files = xc_grow(mapping->files, mapping->count, &mapping->capacity, sizeof *mapping->files);
	mapping->files[mapping->count++] = (struct mapped){.dev = dev, .path = xc_strdup(path), .runs = runs};
}

static FILE *open_of(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
	return fopen(path, "re");
}

/* The kernel writes a line break in a name as "\\012". */
static void break_lines(char *path)
{
	static const char told[] = "\\012";
	for (char *at = path; (at = strstr(at, told)); at++) {
		*at = '\n';
		memmove(at + 1, at + strlen(told), strlen(at + strlen(told)) + 1);
	}
}

static void read_maps(pid_t pid, struct mapping *mapping)
{
	FILE *maps = open_of(pid, "maps");
	char *line = NULL, rights[5];
	size_t size = 0;
	unsigned major, minor;
	while (maps && getline(&line, &size, maps) > 0) {
		char *path = strchr(line, '/');
		if (!path || sscanf(line, "%*x-%*x %4s %*x %x:%x", rights, &major, &minor) != 3)
			continue;
		path[strcspn(path, "\n")] = '\0';
		break_lines(path);
		if (xc_stall_is_file(path))
			add_file(mapping, path, makedev(major, minor), rights[2] == 'x');
	}
	free(line);
	if (maps)
		fclose(maps);
}

static bool asks_others(const char *type)
{
	static const char *const types[] = {"fuse",      "nfs",  "cifs",   "smb",    "9p",
					    "ceph",      "afs",  "autofs", "lustre", "virtiofs",
					    "glusterfs", "gpfs", "beegfs", "coda",   "orangefs"};
	for (size_t i = 0; i < XC_COUNT(types); i++)
		if (xc_begins_with(type, types[i]))
			return true;
	return false;
}

/* Mount points are listed only, not accessed. */
static void mark_remote(pid_t pid, struct mapping *mapping)
{
	FILE *mounts = open_of(pid, "mountinfo");
	char *line = NULL;
	size_t size = 0;
	unsigned major, minor;
	while (mounts && getline(&line, &size, mounts) > 0) {
		const char *type = strstr(line, " - ");
		if (!type || !asks_others(type + 3) || sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2)
			continue;
		for (size_t i = 0; i < mapping->count; i++)
			mapping->files[i].remote |= mapping->files[i].dev == makedev(major, minor);
	}
	free(line);
	if (mounts)
		fclose(mounts);
}

static size_t choose(struct mapping *mapping)
{
	size_t remote = 0, chosen = 0;
	for (size_t i = 0; i < mapping->count; i++)
		remote += mapping->files[i].remote;
	for (size_t i = 0; i < mapping->count; i++) {
		const struct mapped file = mapping->files[i];
		if (remote ? !file.remote : file.runs)
			continue;
		mapping->files[i] = mapping->files[chosen];
		mapping->files[chosen++] = file;
	}
	return chosen;
}

static void name_mapped(pid_t pid, struct xc_text *text)
{
	struct mapping mapping = {.count = 0};
	read_maps(pid, &mapping);
	mark_remote(pid, &mapping);
	const size_t count = choose(&mapping);
	for (size_t i = 0; i < count && i < SHOWN; i++)
		xc_text_printf(text, "%s%s", i ? " or " : "", mapping.files[i].path);
	if (count > SHOWN)
		xc_text_printf(text, " or %zu others", count - SHOWN);
	for (size_t i = 0; i < mapping.count; i++)
		free(mapping.files[i].path);
	free(mapping.files);
}

/* ---- both ---- */

static void name_other(const struct xc_stalled_thread *t, const struct xc_stall_call *call, const uint64_t *arguments,
		       struct xc_text *text)
{
	if (call->number == SYS_process_vm_readv)
		xc_text_printf(text, "the memory of process %ld", (long)arguments[0]);
	else if (call->number == SYS_close || call->number == SYS_exit_group)
		xc_text_add(text, "a file that is being closed");
	else
		name_mapped(t->pid, text);
}

void xc_stall_describe(const struct xc_stalled_thread *stalled, struct xc_text *text)
{
	uint64_t arguments[XC_STALL_ARGUMENTS];
	const struct xc_stall_call *call = xc_stall_call(stalled->call, arguments);
	const size_t before = text->len;
	if (!call)
		return;
	if (call->descriptor == NONE && call->path == NONE)
		name_other(stalled, call, arguments, text);
	else
		name_file(stalled, call, arguments, text);
	if (stalled->kind == XC_STALL_PIPE && (text->len == before || !xc_stall_is_file(text->bytes + before))) {
		text->len = before;
		xc_text_add(text, "standard input");
	}
}
