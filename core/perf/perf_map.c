#include "core/perf/perf_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/io/opener.h"
#include "core/io/source.h"
#include "core/live/live.h"
#include "core/live/live_proc.h"

enum {
	FUNCTIONS = 1 << 20,
	NAME = 1000,
	NAMES = 64 << 20 /* bytes in all */,
	BACK = 1000 /* entries that may begin within a long function */
};

struct entry {
	xc_addr lo, hi; /* inclusive */
	const char *name;
	size_t order; /* in the file */
};

struct xc_perf_map {
	struct xc_arena arena;
	struct entry *entries; /* by lo */
	size_t count, capacity;
	size_t bytes; /* of names */
};

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* "7f30a0000 40 LazyCompile:~parse /app.js:7", with a NUL at its end. */
static void read_line(struct xc_perf_map *map, const char *line)
{
	char *rest;
	const xc_addr lo = strtoull(line, &rest, 16);
	const uint64_t size = rest > line && *rest == ' ' ? strtoull(rest, &rest, 16) : 0;
	if (!size || size - 1 > UINT64_MAX - lo || *rest != ' ' || !rest[1])
		return;
	map->entries = xc_grow(map->entries, map->count, &map->capacity, sizeof *map->entries);
	map->entries[map->count] = (struct entry){
		lo, lo + size - 1, xc_arena_printf(&map->arena, "%.*s", (int)NAME, rest + 1), map->count};
	map->bytes += strlen(map->entries[map->count++].name);
}

struct xc_perf_map *xc_perf_map_read(const char *text, size_t len)
{
	struct xc_perf_map *map = xc_alloc(sizeof *map);
	char line[NAME + 40];
	for (size_t at = 0; at < len && map->count < FUNCTIONS && map->bytes < NAMES;) {
		const char *end = memchr(text + at, '\n', len - at);
		const size_t length = end ? (size_t)(end - text) - at : len - at;
		const size_t kept = length < sizeof line - 1 ? length : sizeof line - 1;
		memcpy(line, text + at, kept);
		line[kept] = '\0';
		if (end) /* the last line may not be whole yet */
			read_line(map, line);
		at += length + 1;
	}
	if (map->count)
		qsort(map->entries, map->count, sizeof *map->entries, by_start);
	return map;
}

void xc_perf_map_free(struct xc_perf_map *map)
{
	if (!map)
		return;
	xc_arena_fini(&map->arena);
	free(map->entries);
	free(map);
}

const char *xc_perf_map_find(const struct xc_perf_map *map, xc_addr addr)
{
	const struct entry *found = NULL;
	const size_t behind = map ? XC_LOWER_BOUND(map->count, i, map->entries[i].lo <= addr) : 0;
	for (size_t i = behind, back = 0; i-- > 0 && back < BACK; back++)
		if (map->entries[i].hi >= addr && (!found || map->entries[i].order > found->order))
			found = &map->entries[i];
	return found ? found->name : NULL;
}

/* Its number in the innermost of its name spaces. */
static long own_pid(const struct xc_process *process)
{
	xc_auto(xc_text_fini) struct xc_text status = {0};
	xc_auto(xc_freep) char *name = xc_asprintf("%d/status", (int)process->pid);
	const int failed = xc_live_proc_read(xc_live_task_dir(process), name, &status);
	const char *numbers = failed ? NULL : xc_live_proc_field(xc_text_string(&status), "NSpid");
	if (!numbers)
		return process->pid;
	long pid = 0;
	for (char *end; *numbers && *numbers != '\n'; numbers = end) {
		const long number = strtol(numbers, &end, 10);
		if (end == numbers)
			break;
		pid = number;
	}
	return pid;
}

/* Anybody may write into /tmp. */
static bool is_trusted(const struct xc_process *process, int fd)
{
	struct stat file, task;
	xc_auto(xc_freep) char *name = xc_asprintf("%d", (int)process->pid);
	return fstat(fd, &file) == 0 && fstatat(xc_live_task_dir(process), name, &task, 0) == 0 &&
	       (file.st_uid == 0 || file.st_uid == task.st_uid);
}

struct xc_perf_map *xc_perf_map_open(const struct xc_process *process)
{
	struct xc_source *source = NULL;
	if (!process->live || !process->live_root)
		return NULL;
	xc_auto(xc_freep) char *path = xc_asprintf("/tmp/perf-%ld.map", own_pid(process));
	bool special;
	const int fd = xc_opener_regular(process->live_root, path, &special);
	if (fd < 0)
		return NULL;
	if (!is_trusted(process, fd)) {
		close(fd);
		return NULL;
	}
	const struct xc_source_options how = {.as_is = true};
	struct xc_error *err = xc_source_open_fd(fd, path, &how, &source);
	xc_error_free(err);
	if (err)
		return NULL;
	struct xc_perf_map *map = xc_perf_map_read((const char *)source->bytes, source->size);
	xc_source_close(source);
	return map;
}
