/* lock_owner: "NSpid:     4711    17" in /proc/PID/status: the ids in all namespaces from ours inward (proc(5),
 * man-pages 6.03). */
#include "profile/threads/lock_owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cursor.h"
#include "core/live/live.h"
#include "core/live/live_proc.h"

enum { MOST_THREADS = 1 << 14, AGAIN_NS = 100000000, TID_MASK = 0x3fffffff, WORD = 4 };

/* The innermost id of a thread, and how many it has. 0: not known. */
static pid_t innermost(int task_dir, pid_t tid, unsigned *count_out)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40];
	long id = 0;
	snprintf(name, sizeof name, "%d/status", (int)tid);
	const char *at =
		xc_live_proc_read(task_dir, name, &text) ? NULL : xc_live_proc_field(xc_text_string(&text), "NSpid");
	*count_out = 0;
	for (char *end; at && *at && *at != '\n'; at = end, ++*count_out) {
		const long next = strtol(at, &end, 10);
		if (end == at)
			break;
		id = next;
	}
	return (pid_t)id;
}

void xc_lock_owner_init(struct xc_lock_owner *o, const struct xc_process *process)
{
	unsigned count;
	*o = (struct xc_lock_owner){.process = process};
	(void)innermost(xc_live_task_dir(process), process->pid, &count);
	o->other_ids = count > 1;
}

void xc_lock_owner_fini(struct xc_lock_owner *o)
{
	xc_hashtable_fini(&o->tids);
}

static void read_ids(struct xc_lock_owner *o)
{
	const int dir = xc_live_task_dir(o->process);
	size_t count;
	unsigned depth;
	xc_auto(xc_freep) pid_t *tids = xc_live_proc_tids(dir, MOST_THREADS, &count);
	for (size_t i = 0; i < count; i++) {
		const pid_t id = innermost(dir, tids[i], &depth);
		if (id)
			xc_hashtable_at(&o->tids, NULL, (uint64_t)id, 1)->number = (uint64_t)tids[i];
	}
	o->read_ns = xc_now_ns();
}

static bool is_thread(const struct xc_lock_owner *o, pid_t tid)
{
	char name[16];
	snprintf(name, sizeof name, "%d", (int)tid);
	return faccessat(xc_live_task_dir(o->process), name, F_OK, 0) == 0;
}

static pid_t thread_of(struct xc_lock_owner *o, pid_t id)
{
	if (!o->other_ids)
		return is_thread(o, id) ? id : 0;
	const union xc_hashtable_value *found = xc_hashtable_find(&o->tids, (uint64_t)id, 1);
	if (!found && xc_now_ns() > o->read_ns + AGAIN_NS) {
		read_ids(o);
		found = xc_hashtable_find(&o->tids, (uint64_t)id, 1);
	}
	return found && is_thread(o, (pid_t)found->number) ? (pid_t)found->number : 0;
}

pid_t xc_lock_owner_now(struct xc_lock_owner *o, xc_addr word)
{
	uint8_t bytes[WORD];
	if (!word || xc_live_reread(o->process, word, bytes, sizeof bytes) != sizeof bytes)
		return 0;
	const uint64_t id = xc_load_uint(bytes, sizeof bytes, o->process->arch->big_endian);
	return id && id <= TID_MASK ? thread_of(o, (pid_t)id) : 0;
}
