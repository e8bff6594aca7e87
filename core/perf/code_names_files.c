/* code_names: where a process has written names of its code: /tmp/perf-PID.map, and a jit-PID.dump, which it maps so
 * that profilers learn where it is. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/io/opener.h"
#include "core/io/source.h"
#include "core/live/live.h"
#include "core/live/live_proc.h"
#include "core/perf/jitdump.h"
#include "core/perf/perf_map.h"

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

/* /tmp is world-writable. */
static bool is_trusted(const struct xc_process *process, int fd)
{
	struct stat file, task;
	xc_auto(xc_freep) char *name = xc_asprintf("%d", (int)process->pid);
	return fstat(fd, &file) == 0 && fstatat(xc_live_task_dir(process), name, &task, 0) == 0 &&
	       (file.st_uid == 0 || file.st_uid == task.st_uid);
}

/* NULL: there is none, or it is another user's. */
static struct xc_source *open_file(const struct xc_process *process, const char *path)
{
	struct xc_source *source = NULL;
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
	return err ? NULL : source;
}

static void read_map(struct xc_code_names *names, const struct xc_process *process)
{
	xc_auto(xc_freep) char *path = xc_asprintf("/tmp/perf-%ld.map", own_pid(process));
	struct xc_source *source = open_file(process, path);
	if (source)
		xc_perf_map_read(names, (const char *)source->bytes, source->size);
	xc_source_close(source);
}

/* The first that is mapped. */
static void read_dump(struct xc_code_names *names, const struct xc_process *process)
{
	xc_auto(xc_freep) char *file = xc_asprintf("/jit-%ld.dump", own_pid(process));
	for (size_t i = 0; i < process->mapping_count; i++) {
		const char *path = process->mappings[i].path;
		struct xc_source *source = path && xc_ends_with(path, file) ? open_file(process, path) : NULL;
		const bool read = source && xc_jitdump_read(names, source->bytes, source->size);
		xc_source_close(source);
		if (read)
			return;
	}
}

struct xc_code_names *xc_code_names_of(const struct xc_process *process)
{
	if (!process->live || !process->live_root)
		return NULL;
	struct xc_code_names *names = xc_code_names_new();
	read_map(names, process);
	read_dump(names, process);
	return names;
}
