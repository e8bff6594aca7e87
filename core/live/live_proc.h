/* live_proc: reads and parses the text files below /proc/PID. */
#ifndef XC_LIVE_PROC_H
#define XC_LIVE_PROC_H

#include <sys/types.h>

#include "core/base/text.h"

/* One line of /proc/PID/maps (or the first line of an entry of smaps). */
struct xc_live_map {
	xc_addr lo, hi; /* inclusive */
	bool readable, writable, executable, shared;
	uint64_t offset;   /* of lo in the file */
	uint64_t dev, ino; /* dev as stat gives it; both 0 for anonymous memory */
	char *name; /* path or "[label]", unescaped, without " (deleted)"; "" when none; inside the text parsed */
	bool deleted;
};

/* Read the whole of a file below dir, or of an open one from its start, into text (always NUL-terminated on success).
 * Returns 0 or an errno; EFBIG past 512 MiB. */
int xc_live_proc_read(int dir, const char *name, struct xc_text *text);
int xc_live_proc_read_fd(int fd, struct xc_text *text);

/* The threads that a task directory (/proc/PID/task, open for reading) lists now: a malloc'ed array, at most `most` of
 * them. It may be NULL when there is none. The directory is read from its start. */
pid_t *xc_live_proc_tids(int task_dir, size_t most, size_t *count_out);

/* Parse the line at *at, overwriting it with terminators, and advance *at. Skips lines that are no mapping. False at
 * the end. */
bool xc_live_proc_next_map(char **at, struct xc_live_map *map_out);

/* The value after "Name:" in /proc/PID/status, up to the end of its line; NULL when there is no such line. */
const char *xc_live_proc_field(const char *status, const char *name);

/* CPU time in user mode and in the kernel by a stat file of a process or thread: nanoseconds, in steps of a tick. */
bool xc_live_proc_times(int dir, const char *name, uint64_t *user_ns_out, uint64_t *system_ns_out);

/* Undo the kernel's escapes \n and \\ of names in stat and status, in place. */
void xc_live_proc_unescape(char *text);

#endif
