/* lock: see lock.h. */
#include "triage/locks/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/live/live.h"
#include "triage/waits/namespace_tid.h"

const struct xc_lock *xc_lock_awaited(const struct xc_locks *l, size_t thread)
{
	return l->lock_of[thread] == XC_LOCK_NOBODY ? NULL : &l->locks[l->lock_of[thread]];
}

/* Of a running process: the first that waits has slept since its call was read, and the owner, which is not in the list
 * of threads, has not begun since that was made. */
static bool is_left(const struct xc_process *p, const struct xc_wait *first, const struct xc_lock *lock)
{
	char name[32];
	struct stat now;
	int tasks = xc_live_task_dir(p);
	snprintf(name, sizeof name, "%d", (int)lock->owner);
	return tasks >= 0 && xc_live_thread_slept(p, first->thread) &&
	       fstatat(tasks, name, &now, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

bool xc_lock_is_orphan(const struct xc_process *p, const struct xc_locks *l, const struct xc_lock *lock)
{
	return l->waits->ids_are != XC_IDS_UNKNOWN && lock->known && lock->owner && lock->holder == XC_LOCK_NOBODY &&
	       !lock->shared && !lock->robust && !p->missing_bytes &&
	       (!p->live || (l->waits->ids_are == XC_IDS_SAME && is_left(p, &l->waits->items[lock->first], lock)));
}

const char *xc_lock_kind_text(const struct xc_lock *lock)
{
	static const char *const words[] = {
		[XC_LOCK_MUTEX] = "mutex",
		[XC_LOCK_RWLOCK] = "reader-writer lock",
		[XC_LOCK_ONCE] = "one-time initialization",
		[XC_LOCK_STREAM] = "stdio stream",
		[XC_LOCK_ARENA] = "malloc's lock",
		[XC_LOCK_LIBRARY] = "lock of the C library",
	};
	return words[lock->kind];
}

void xc_lock_describe_owner(const struct xc_locks *l, const struct xc_lock *lock, struct xc_text *text)
{
	xc_namespace_tid_describe(l->waits, lock->owner, text);
	if (lock->shared && l->waits->ids_are != XC_IDS_UNKNOWN)
		xc_text_add(text, " of another process");
}

void xc_lock_describe_held(const struct xc_lock *lock, struct xc_text *text)
{
	struct xc_lock held = *lock;
	if (lock->is_shared_name) {
		held.name = lock->held_name;
		held.is_expression = held.is_local = lock->held_name != NULL;
	}
	if (held.name)
		xc_lock_describe(&held, text);
	else
		xc_text_printf(text, "%s 0x%llx", xc_lock_kind_text(lock), (unsigned long long)lock->addr);
}

void xc_lock_describe(const struct xc_lock *lock, struct xc_text *text)
{
	xc_text_printf(text, "%s ", xc_lock_kind_text(lock));
	xc_text_add(text, lock->is_expression ? "`" : "");
	xc_text_name(text, lock->name);
	xc_text_add(text, lock->is_expression ? "`" : "");
	if (lock->is_local)
		xc_text_printf(text, " (0x%llx)", (unsigned long long)lock->addr);
}
