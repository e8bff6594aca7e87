/* worker_outcome: the record of a worker that has ended. Its output is used only if it is JSON in the form of a record;
 * the path and the way it ended are the parent's own knowledge. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/sandbox/worker_child.h"
#include "batch/sandbox/worker_impl.h"

static struct xc_record *failed(const struct xc_worker *w, struct xc_arena *arena, enum xc_record_status status,
				const char *why)
{
	struct xc_record *record = xc_record_failed(arena, status, w->input->path, why);
	record->stored = w->input->size;
	return record;
}

static struct xc_record *died(const struct xc_worker *w, struct xc_arena *arena)
{
	const int number = WTERMSIG(w->status);
	if (number == SIGXCPU)
		return failed(w, arena, XC_RECORD_TIMEOUT, "it used up its processor time");
	if (number == SIGXFSZ)
		return failed(w, arena, XC_RECORD_LIMIT, "it inflates to more than --max-core-size");
	if (number == SIGSYS)
		return failed(w, arena, XC_RECORD_DIED, "the worker made a system call that its sandbox forbids");
	return failed(w, arena, XC_RECORD_DIED,
		      xc_arena_printf(arena, "the worker died of signal %d (%s)", number, strsignal(number)));
}

/* The record that the worker wrote, unless it is malformed. */
static struct xc_record *answer(const struct xc_worker *w, struct xc_arena *arena)
{
	struct xc_record *record;
	struct xc_error *err = xc_record_read(xc_text_string(&w->text), w->text.len, arena, &record);
	if (err) {
		xc_error_free(err);
		return failed(w, arena, XC_RECORD_DIED, "the worker's output is not a record");
	}
	record->path = xc_record_text(arena, w->input->path);
	record->stored = w->input->size;
	return record;
}

static bool ended_with(const struct xc_worker *w, int status)
{
	return WIFEXITED(w->status) && WEXITSTATUS(w->status) == status;
}

static bool lacked_memory(const struct xc_worker *w)
{
	return w->ended && WIFEXITED(w->status) &&
	       (WEXITSTATUS(w->status) == XC_WORKER_CHILD_OUT_OF_MEMORY ||
		(WEXITSTATUS(w->status) == XC_WORKER_CHILD_LIBDW_OUT_OF_MEMORY && !w->text.len));
}

/* Signals of the sandbox itself are not faults. */
static bool is_fault(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

const char *xc_worker_excess(const struct xc_worker *w)
{
	if (!w->ended || w->late)
		return NULL;
	if (lacked_memory(w))
		return "its heap was skipped: it needs more memory than --worker-memory";
	return WIFSIGNALED(w->status) && is_fault(WTERMSIG(w->status))
		       ? "its heap was skipped: the worker crashed on it, which is a bug in xcore"
		       : NULL;
}

/* ---- disk space ---- */

enum {
	SLACK = 1 << 20, /* bytes of a core written at once */
	TINY = 1 << 16,
	BOMB = 64, /* times its stored size: apart from zeros, a program's memory does not compress better */
};

/* Bytes of disk that it uses. */
static uint64_t taken(const struct xc_worker *w)
{
	struct stat st;
	return w->pair.scratch >= 0 && !fstat(w->pair.scratch, &st) ? (uint64_t)st.st_blocks * 512 : 0;
}

/* errno of a write there now; 0: it works. Tested with a file of our own, because the disk's numbers do not show a
 * quota. */
static int disk_trouble(const struct xc_worker *w)
{
	struct statvfs fs;
	if (w->pair.scratch < 0 || fstatvfs(w->pair.scratch, &fs))
		return 0;
	if ((uint64_t)fs.f_bavail * fs.f_frsize < TINY) /* root has a reserve, which a worker does not have */
		return ENOSPC;
	char bytes[4096];
	memset(bytes, 'x', sizeof bytes);
	const int fd = xc_worker_scratch();
	const ssize_t n = fd < 0 ? -1 : write(fd, bytes, sizeof bytes);
	const int number = n < 0 ? errno : n < (ssize_t)sizeof bytes ? ENOSPC : 0;
	if (fd >= 0)
		close(fd);
	return number;
}

static bool is_bomb(const struct xc_worker *w)
{
	return w->room / BOMB >= w->input->size;
}

/* errno; 0: nothing. A worker that exceeds its share, or claims that without doing so, is not believed. */
static int lacked_room(const struct xc_worker *w, const char **what_out)
{
	struct rlimit files;
	const uint64_t all = w->room && w->room < UINT64_MAX - SLACK ? w->room + SLACK : UINT64_MAX;
	*what_out = "temporary files (TMPDIR)";
	if (WIFEXITED(w->status) && WEXITSTATUS(w->status) == XC_WORKER_CHILD_BROKEN)
		return taken(w) <= all ? disk_trouble(w) : 0;
	if (WIFEXITED(w->status) && WEXITSTATUS(w->status) == XC_WORKER_CHILD_NO_ROOM) {
		*what_out = "temporary files (TMPDIR; a core may use half of the disk)";
		return w->room && !is_bomb(w) && taken(w) + SLACK >= w->room ? ENOSPC : 0;
	}
	*what_out = "temporary files (ulimit -f)";
	return WIFSIGNALED(w->status) && WTERMSIG(w->status) == SIGXFSZ && !getrlimit(RLIMIT_FSIZE, &files) &&
			       files.rlim_cur < w->file_size
		       ? EFBIG
		       : 0;
}

void xc_worker_check_room(struct xc_worker *w)
{
	const char *what;
	const int number = w->trouble || w->late || w->too_much ? 0 : lacked_room(w, &what);
	if (!number)
		return;
	w->trouble = number;
	w->what = what;
}

/* ---- failures not caused by the core ---- */

/* A kill that is not ours came from a user or the kernel. Everything else is reported by the broker and the child. */
bool xc_worker_hindered(const struct xc_worker *w)
{
	if (w->pair.status->core_failed)
		return w->pair.status->hindered;
	if (w->trouble)
		return true; /* it may have used up its time */
	if (w->pair.status->refused || w->late || w->too_much || !w->ended)
		return false;
	return (WIFSIGNALED(w->status) && WTERMSIG(w->status) == SIGKILL) ||
	       (!w->last_try && ended_with(w, XC_WORKER_CHILD_BROKEN));
}

static const char *said(const struct xc_worker *w, struct xc_arena *arena)
{
	const struct xc_record *record = answer(w, arena);
	return w->text.len && record->why ? record->why : "the worker ended before it had a core";
}

static const char *hindrance(const struct xc_worker *w, struct xc_arena *arena)
{
	if (w->pair.status->core_failed)
		return xc_arena_strdup(arena, w->pair.status->why);
	if (w->trouble)
		return xc_arena_printf(arena, "%s: %s", w->what, strerror(w->trouble));
	if (WIFSIGNALED(w->status))
		return "the worker was killed (by the kernel, when memory ran out?)";
	return said(w, arena);
}

static struct xc_record *unlooked(const struct xc_worker *w, struct xc_arena *arena)
{
	struct xc_record *record =
		failed(w, arena, XC_RECORD_UNREADABLE, xc_arena_printf(arena, "not examined: %s", hindrance(w, arena)));
	record->unlooked = true;
	return record;
}

/* All that is known is that the worker claimed so each time, the last time while running alone: the core may have
 * forged it. */
static struct xc_record *unbelieved(const struct xc_worker *w, struct xc_arena *arena)
{
	struct xc_record *record =
		failed(w, arena, XC_RECORD_DIED, xc_arena_printf(arena, "the worker gave up: %s", said(w, arena)));
	record->passing = true;
	return record;
}

/* ---- the record ---- */

/* Puts the note before the worker's own. */
static void add_note(struct xc_record *record, const char *note, struct xc_arena *arena)
{
	if (note)
		record->note = record->note ? xc_arena_printf(arena, "%s; %s", note, record->note) : note;
}

static struct xc_record *outcome(const struct xc_worker *w, struct xc_arena *arena)
{
	if (xc_worker_hindered(w))
		return unlooked(w, arena);
	if (w->pair.status->core_failed)
		return failed(w, arena, XC_RECORD_UNREADABLE, xc_arena_strdup(arena, w->pair.status->why));
	if (w->pair.status->refused == XC_BROKER_STATUS_TOO_MUCH)
		return failed(w, arena, XC_RECORD_LIMIT, "it names more files than may be opened for a core");
	if (w->pair.status->refused)
		return failed(w, arena, XC_RECORD_DIED, "the worker sent a malformed request for a file");
	if (w->late)
		return failed(w, arena, XC_RECORD_TIMEOUT, "it took longer than --timeout");
	if (w->too_much)
		return failed(w, arena, XC_RECORD_LIMIT, "its record is too long");
	if (WIFSIGNALED(w->status))
		return died(w, arena);
	if (lacked_memory(w))
		return failed(w, arena, XC_RECORD_LIMIT, "it needs more memory than --worker-memory");
	if (ended_with(w, XC_WORKER_CHILD_BROKEN))
		return unbelieved(w, arena);
	struct xc_record *record = answer(w, arena);
	record->passing = ended_with(w, XC_WORKER_CHILD_NO_ROOM);
	if (record->status == XC_RECORD_OK)
		add_note(record, w->heapless, arena);
	return record;
}

struct xc_record *xc_worker_outcome(const struct xc_worker *w, struct xc_arena *arena)
{
	struct xc_record *record = outcome(w, arena);
	if (w->pair.status->silent && !record->unlooked) {
		add_note(record, "some of its files did not answer, and count as absent", arena);
		record->passing = true;
	}
	record->passing = record->passing || w->stuck;
	return record;
}
