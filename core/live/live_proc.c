/* live_proc: the kernel's text files, parsed.
 *
 * A process chooses its name, its file names and its command line, so these files are input like any other.
 * The kernel keeps one item per line by escaping: newlines in paths are \012 (seq_path, fs/proc/task_mmu.c), newlines
 * and backslashes in names are \n and \\ (proc_task_name, fs/proc/array.c). Checked against Linux 6.1 and 6.18. */
#include "core/live/live_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_BYTES = 512 << 20, CHUNK = 64 << 10 };

int xc_live_proc_read_fd(int fd, struct xc_text *text)
{
	xc_auto(xc_freep) char *chunk = xc_alloc(CHUNK);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return errno;
	for (;;) {
		ssize_t got = read(fd, chunk, CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		xc_text_addn(text, chunk, (size_t)got);
		if (got == 0)
			return 0;
		if (text->len > MAX_BYTES)
			return EFBIG;
	}
}

int xc_live_proc_read(int dir, const char *name, struct xc_text *text)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return errno;
	int error = xc_live_proc_read_fd(fd, text);
	close(fd);
	return error;
}

pid_t *xc_live_proc_tids(int task_dir, size_t most, size_t *count_out)
{
	int fd = openat(task_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	pid_t *tids = NULL;
	size_t count = 0, capacity = 0;
	for (struct dirent *entry; dir && count < most && (entry = readdir(dir));) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		tids = xc_grow(tids, count, &capacity, sizeof *tids);
		tids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	*count_out = count;
	return tids;
}

/* utime and stime are the 12th and 13th words behind the name, which may contain anything, parentheses too. */
bool xc_live_proc_times(int dir, const char *name, uint64_t *user_ns_out, uint64_t *system_ns_out)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	unsigned long long user, system;
	const long ticks = sysconf(_SC_CLK_TCK);
	const char *behind = xc_live_proc_read(dir, name, &text) ? NULL : strrchr(xc_text_string(&text), ')');
	if (!behind || ticks <= 0 ||
	    sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
		return false;
	*user_ns_out = user * (UINT64_C(1000000000) / (uint64_t)ticks);
	*system_ns_out = system * (UINT64_C(1000000000) / (uint64_t)ticks);
	return true;
}

void xc_live_proc_unescape(char *text)
{
	char *out = text;
	for (const char *at = text; *at; at++) {
		if (at[0] == '\\' && (at[1] == 'n' || at[1] == '\\'))
			*out++ = *++at == 'n' ? '\n' : '\\';
		else
			*out++ = *at;
	}
	*out = '\0';
}

/* Only the newline is escaped: any other backslash in a path is literal. */
static void unescape_path(char *path)
{
	char *out = path;
	for (const char *at = path; *at; at++) {
		if (!strncmp(at, "\\012", 4)) {
			*out++ = '\n';
			at += 3;
		} else {
			*out++ = *at;
		}
	}
	*out = '\0';
}

static void cut_deleted(struct xc_live_map *map)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(map->name), cut = sizeof suffix - 1;
	map->deleted = map->ino && len > cut && !strcmp(map->name + len - cut, suffix);
	if (map->deleted)
		map->name[len - cut] = '\0';
}

/* "55d0-55d1 r-xp 00001000 fd:01 1234    /path": the name starts after the blanks that follow the inode. */
static bool parse_map(char *line, struct xc_live_map *map)
{
	unsigned long long lo, end, offset, ino;
	unsigned dev_major, dev_minor;
	char perms[5];
	int used = 0;
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &lo, &end, perms, &offset, &dev_major, &dev_minor, &ino,
		   &used) != 7 ||
	    end <= lo || strlen(perms) != 4)
		return false;
	*map = (struct xc_live_map){.lo = lo, .hi = end - 1, .offset = offset, .ino = ino};
	map->dev = ino ? makedev(dev_major, dev_minor) : 0;
	map->readable = perms[0] == 'r';
	map->writable = perms[1] == 'w';
	map->executable = perms[2] == 'x';
	map->shared = perms[3] == 's';
	map->name = line + used + strspn(line + used, " ");
	unescape_path(map->name);
	cut_deleted(map);
	return true;
}

bool xc_live_proc_next_map(char **at, struct xc_live_map *map_out)
{
	while (**at) {
		char *line = *at, *end = strchr(line, '\n');
		*at = end ? end + 1 : line + strlen(line);
		if (end)
			*end = '\0';
		if (parse_map(line, map_out))
			return true;
	}
	return false;
}

const char *xc_live_proc_field(const char *status, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = status; line && *line;) {
		if (!strncmp(line, name, len) && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}
