/* wait_report: a description by the kind of wait; for other system calls, by name and arguments (Linux, their manual
 * pages). */
#include "triage/locks/wait_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "triage/waits/barrier.h"
#include "triage/locks/lock_name.h"
#include "triage/locks/locks.h"
#include "triage/waits/wait_kind.h"
#include "triage/waits/waits.h"

/* ---- locks ---- */

/* "held by thread 17", "which it holds itself"; for a one-time initialization "which thread 17 runs". */
static void add_holder(const struct xc_locks *l, const struct xc_wait *wait, const struct xc_lock *lock,
		       struct xc_text *text)
{
	const struct xc_thread *holder = lock->holder != XC_LOCK_NOBODY ? l->waits->items[lock->holder].thread : NULL;
	const char *likely = lock->why ? "likely " : "";
	if (holder && lock->kind == XC_LOCK_ONCE && holder == wait->thread)
		xc_text_printf(text, ", which it %sruns itself", likely);
	else if (holder && lock->kind == XC_LOCK_ONCE)
		xc_text_printf(text, ", which thread %d %sruns", (int)holder->tid, likely);
	else if (holder == wait->thread)
		xc_text_printf(text, ", which it %sholds itself", likely);
	else if (holder)
		xc_text_printf(text, ", %sheld by thread %d", likely, (int)holder->tid);
	else if (lock->owner) {
		xc_text_add(text, ", held by ");
		xc_lock_describe_owner(l, lock, text);
		xc_text_add(text, lock->shared || l->waits->ids_are == XC_IDS_UNKNOWN ? "" : ", which does not exist");
	} else if (lock->readers)
		xc_text_printf(text, ", held by %" PRIu32 " reader%s (threads not recorded)", lock->readers,
			       lock->readers == 1 ? "" : "s");
	else if (lock->died)
		xc_text_add(text, ", whose owner has ended");
	else if (lock->ownerless)
		xc_text_add(text, " (its holder is not recorded)");
}

static void add_lock(struct xc_process *p, const struct xc_wait *wait, struct xc_text *text)
{
	const struct xc_locks *l = xc_locks_of(p);
	size_t index = l->lock_of[wait - l->waits->items];
	xc_text_add(text, "waiting for ");
	if (index == XC_LOCK_NOBODY) {
		xc_text_add(text, wait->kind == XC_WAIT_ONCE           ? "a one-time initialization"
				  : wait->kind == XC_WAIT_LIBRARY_LOCK ? "a lock of the C library"
				  : wait->kind == XC_WAIT_MUTEX        ? "a mutex"
								       : "a reader-writer lock");
	} else {
		xc_lock_describe(&l->locks[index], text);
		if (wait->kind == XC_WAIT_READ_LOCK || wait->kind == XC_WAIT_RUST_READ)
			xc_text_add(text, " to read");
		else if (wait->kind == XC_WAIT_WRITE_LOCK || wait->kind == XC_WAIT_RUST_WRITE)
			xc_text_add(text, " to write");
		add_holder(l, wait, &l->locks[index], text);
	}
	if (wait->reacquires)
		xc_text_add(text, ", after waiting for a condition");
	if (wait->handler) {
		xc_text_add(text, ", in a signal handler: ");
		xc_text_name(text, wait->handler);
	}
}

/* ---- other things ---- */

static void add_object(struct xc_process *p, const struct xc_wait *wait, const char *what, struct xc_text *text)
{
	const char *name = xc_lock_name_expression(p, wait);
	xc_text_printf(text, "waiting for %s%s", name ? "" : "a ", what);
	if (name) {
		xc_text_add(text, " `");
		xc_text_name(text, name);
		xc_text_add(text, "`");
	}
}

static void add_thread(const struct xc_wait *wait, struct xc_text *text)
{
	if (wait->target)
		xc_text_printf(text, "waiting for thread %d to end", (int)wait->target);
	else
		xc_text_add(text, "waiting for a thread to end");
}

/* ---- system calls ---- */

enum shape { PLAIN, FD, COUNT_0, COUNT_1, SLEEP, SLEEP_BY_CLOCK, CHILD };

static const struct call {
	const char *name, *words;
	enum shape shape;
} calls[] = {
	{"read", "read from", FD},
	{"readv", "read from", FD},
	{"pread64", "read from", FD},
	{"preadv", "read from", FD},
	{"recvfrom", "receive from", FD},
	{"recvmsg", "receive from", FD},
	{"recvmmsg", "receive from", FD},
	{"write", "write to", FD},
	{"writev", "write to", FD},
	{"pwrite64", "write to", FD},
	{"sendto", "send to", FD},
	{"sendmsg", "send to", FD},
	{"sendmmsg", "send to", FD},
	{"sendfile", "send to", FD},
	{"accept", "accept on", FD},
	{"accept4", "accept on", FD},
	{"connect", "connect of", FD},
	{"epoll_wait", "epoll on", FD},
	{"epoll_pwait", "epoll on", FD},
	{"epoll_pwait2", "epoll on", FD},
	{"flock", "waiting for a lock of the file of", FD},
	{"fcntl", "waiting for a lock of a byte range of the file of", FD},
	{"fsync", "fsync of", FD},
	{"fdatasync", "fdatasync of", FD},
	{"poll", "poll on", COUNT_1},
	{"ppoll", "poll on", COUNT_1},
	{"select", "select on", COUNT_0},
	{"pselect6", "select on", COUNT_0},
	{"nanosleep", "sleep", SLEEP},
	{"clock_nanosleep", "sleep", SLEEP_BY_CLOCK},
	{"wait4", "waiting for a child process", CHILD},
	{"waitid", "waiting for a child process", PLAIN},
	{"pause", "waiting for a signal", PLAIN},
	{"rt_sigsuspend", "waiting for a signal", PLAIN},
	{"rt_sigtimedwait", "waiting for a signal", PLAIN},
};

/* The struct timespec that a sleeping thread has given to the kernel. */
static bool read_time(const struct xc_process *p, xc_addr at, struct timespec *out)
{
	uint64_t seconds, nanoseconds;
	if (p->arch->word != 8 || !xc_space_peek_uint(p->space, at, 8, &seconds) ||
	    !xc_space_peek_uint(p->space, at + 8, 8, &nanoseconds) || seconds > INT64_MAX / 2 ||
	    nanoseconds > 999999999)
		return false;
	*out = (struct timespec){(time_t)seconds, (long)nanoseconds};
	return true;
}

static void add_seconds(struct xc_text *text, const struct timespec *time)
{
	xc_text_printf(text, "%" PRId64, (int64_t)time->tv_sec);
	bool tiny = !time->tv_sec && time->tv_nsec >= 1000 && time->tv_nsec < 1000000;
	if (time->tv_nsec)
		xc_text_printf(text, tiny ? ".%06u" : ".%03u", (unsigned)(time->tv_nsec / (tiny ? 1000 : 1000000)));
}

/* "sleep of 60 s": the time requested; the time left where the kernel has written that over it. */
static void add_time(const struct xc_process *p, const uint64_t where[2], struct xc_text *text)
{
	bool left = !p->live && where[1] == where[0];
	struct timespec time;
	if (!read_time(p, where[0], &time) || time.tv_sec > INT32_MAX)
		return;
	xc_text_add(text, left ? ", " : " of ");
	add_seconds(text, &time);
	xc_text_add(text, left ? " s left" : " s");
}

/* The time on a clock of the kernel when the target was seen, to a second for a core: its file's. */
static bool time_seen(const struct xc_process *p, clockid_t clock, struct timespec *out)
{
	if (p->live)
		return clock_gettime(clock, out) == 0;
	*out = (struct timespec){(time_t)p->core->mtime, 0};
	return clock == CLOCK_REALTIME && p->core->mtime > 0;
}

/* "sleep, 12.5 s left" until an absolute time. A core says nothing about the time since boot, on which most such sleeps
 * are: "sleep until 3035.25 s after boot". */
static void add_until(const struct xc_process *p, const uint64_t args[3], struct xc_text *text)
{
	struct timespec until, now;
	clockid_t clock = (clockid_t)(int32_t)args[0];
	if (!read_time(p, args[2], &until))
		return;
	if ((clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) &&
	    time_seen(p, clock, &now) && until.tv_sec > now.tv_sec && until.tv_sec - now.tv_sec < INT32_MAX) {
		int64_t left = (int64_t)(until.tv_sec - now.tv_sec) * 1000 + (until.tv_nsec - now.tv_nsec) / 1000000;
		xc_text_printf(text, p->live ? ", %.1f s left" : ", about %.0f s left", (double)left / 1000);
		return;
	}
	xc_text_add(text, " until ");
	add_seconds(text, &until);
	xc_text_add(text, clock == CLOCK_REALTIME                               ? " s after 1970"
			  : clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ? " s after boot"
										: " s of its clock");
}

static void add_fd(const struct xc_thread *thread, bool paths, struct xc_text *text)
{
	xc_text_printf(text, " descriptor %d", (int)(int32_t)thread->call_args[0]);
	if (thread->moved)
		xc_text_printf(text, ", %" PRIu64 " of %" PRIu64 " bytes left", thread->call_args[2] - thread->moved,
			       thread->call_args[2]);
	if (!thread->call_file || !paths)
		return;
	xc_text_add(text, " = ");
	xc_text_name(text, thread->call_file);
}

/* select: the highest descriptor plus one; poll: the number of descriptors. */
static void add_count(uint64_t count, bool below, struct xc_text *text)
{
	if (below)
		xc_text_printf(text, " descriptors below %" PRIu32, (uint32_t)count);
	else
		xc_text_printf(text, " %" PRIu32 " descriptor%s", (uint32_t)count, (uint32_t)count == 1 ? "" : "s");
}

static const struct call *call_of(const struct xc_wait *wait)
{
	for (size_t i = 0; wait->call && wait->thread->call_known && i < XC_COUNT(calls); i++)
		if (strcmp(calls[i].name, wait->call) == 0)
			return &calls[i];
	return NULL;
}

static bool is_on_descriptors(const struct xc_wait *wait)
{
	const struct call *call = wait && wait->kind == XC_WAIT_CALL ? call_of(wait) : NULL;
	return call && (call->shape == FD || call->shape == COUNT_0 || call->shape == COUNT_1);
}

static void add_call(const struct xc_process *p, const struct xc_wait *wait, bool paths, struct xc_text *text)
{
	const struct xc_thread *thread = wait->thread;
	const struct call *call = call_of(wait);
	if (xc_thread_is_stopped(thread))
		xc_text_add(text, "stopped; last call: ");
	if (!call) {
		xc_text_printf(text, "in system call %s", wait->call ? wait->call : "of a number that is not known");
		return;
	}
	const int32_t child = call->shape == CHILD ? (int32_t)thread->call_args[0] : 0;
	xc_text_add(text, child > 0 ? "waiting for child process" : call->words);
	if (child > 0)
		xc_text_printf(text, " %d", (int)child);
	else if (call->shape == FD)
		add_fd(thread, paths, text);
	else if (call->shape == COUNT_0 || call->shape == COUNT_1)
		add_count(thread->call_args[call->shape == COUNT_1], call->shape == COUNT_0, text);
	else if (call->shape == SLEEP)
		add_time(p, &thread->call_args[0], text);
	else if (call->shape == SLEEP_BY_CLOCK && (thread->call_args[1] & TIMER_ABSTIME))
		add_until(p, thread->call_args, text);
	else if (call->shape == SLEEP_BY_CLOCK)
		add_time(p, &thread->call_args[2], text);
}

/* glibc's pthread_mutex_t has the owner's id behind the word and the count, from when it has the lock until it gives it
 * up; a pthread_rwlock_t that of the writer (sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h). */
xc_addr xc_wait_owner_word(const struct xc_process *process, const struct xc_wait *wait)
{
	enum { MUTEX_OWNER = 8, RWLOCK_WRITER_64 = 24 };
	const bool is_rwlock = wait->kind == XC_WAIT_READ_LOCK || wait->kind == XC_WAIT_WRITE_LOCK;
	if (wait->object && wait->kind == XC_WAIT_MUTEX)
		return wait->object + MUTEX_OWNER;
	return wait->object && is_rwlock && process->arch->word == 8 ? wait->object + RWLOCK_WRITER_64 : 0;
}

static void add_call_alone(const struct xc_wait *wait, struct xc_text *text)
{
	const struct call *call = call_of(wait);
	xc_text_add(text, call ? call->words : wait->call ? wait->call : "a system call");
	if (call && call->shape == FD)
		add_fd(wait->thread, true, text);
	else if (call && (call->shape == COUNT_0 || call->shape == COUNT_1))
		add_count(wait->thread->call_args[call->shape == COUNT_1], call->shape == COUNT_0, text);
}

void xc_wait_report_alone(struct xc_process *process, const struct xc_wait *wait, struct xc_text *text)
{
	static const char *const things[] = {
		[XC_WAIT_MUTEX] = "mutex",
		[XC_WAIT_READ_LOCK] = "reader-writer lock, to read",
		[XC_WAIT_WRITE_LOCK] = "reader-writer lock, to write",
		[XC_WAIT_CONDITION] = "condition",
		[XC_WAIT_SEMAPHORE] = "semaphore",
		[XC_WAIT_BARRIER] = "barrier",
		[XC_WAIT_ONCE] = "one-time initialization",
		[XC_WAIT_RUST_MUTEX] = "mutex of Rust",
		[XC_WAIT_RUST_READ] = "RwLock, to read",
		[XC_WAIT_RUST_WRITE] = "RwLock, to write",
		[XC_WAIT_RUST_CONDITION] = "Condvar",
		[XC_WAIT_CHANNEL] = "the other end of a channel",
		[XC_WAIT_PARKED] = "parked, until another thread unparks it",
		[XC_WAIT_FUTURE] = "the result of a future",
		[XC_WAIT_ATOMIC] = "a change of an atomic variable",
		[XC_WAIT_THREAD] = "the end of a thread",
		[XC_WAIT_LIBRARY_LOCK] = "a lock of the C library",
		[XC_WAIT_FUTEX] = "a futex",
	};
	if (wait->kind == XC_WAIT_CALL)
		add_call_alone(wait, text);
	if (wait->kind == XC_WAIT_CALL || wait->kind == XC_WAIT_NONE)
		return;
	const char *name = xc_lock_name_expression(process, wait);
	xc_text_add(text, things[wait->kind]);
	if (name) {
		xc_text_add(text, " `");
		xc_text_name(text, name);
		xc_text_add(text, "`");
	}
	if (wait->guessed)
		xc_text_add(text, " (a guess)");
}

void xc_wait_report_describe(struct xc_process *process, const struct xc_wait *wait, bool paths, struct xc_text *text)
{
	static const char *const phrases[] = {
		[XC_WAIT_CHANNEL] = "waiting for the other end of a channel",
		[XC_WAIT_PARKED] = "parked, until another thread unparks it",
		[XC_WAIT_FUTURE] = "waiting for the result of a future",
		[XC_WAIT_ATOMIC] = "waiting for an atomic variable to change",
		[XC_WAIT_FUTEX] = "waiting on a futex",
	};
	switch (wait->kind) {
	case XC_WAIT_NONE:
		return;
	case XC_WAIT_MUTEX:
	case XC_WAIT_READ_LOCK:
	case XC_WAIT_WRITE_LOCK:
	case XC_WAIT_RUST_MUTEX:
	case XC_WAIT_RUST_READ:
	case XC_WAIT_RUST_WRITE:
	case XC_WAIT_ONCE:
	case XC_WAIT_LIBRARY_LOCK:
		add_lock(process, wait, text);
		break;
	case XC_WAIT_CONDITION:
	case XC_WAIT_RUST_CONDITION:
		add_object(process, wait, "condition", text);
		break;
	case XC_WAIT_SEMAPHORE:
	case XC_WAIT_BARRIER:
		add_object(process, wait, wait->kind == XC_WAIT_BARRIER ? "barrier" : "semaphore", text);
		xc_barrier_describe(process, wait, text);
		break;
	case XC_WAIT_THREAD:
		add_thread(wait, text);
		break;
	case XC_WAIT_CALL:
		add_call(process, wait, paths, text);
		return;
	default:
		xc_text_add(text, phrases[wait->kind]);
	}
	if (wait->timed)
		xc_text_add(text, ", for a limited time");
}

/* ---- in reports ---- */

/* A core shows that a thread was in no system call (on x86: orig_rax). Only the function is known for a call that
 * the dump interrupted after a partial transfer. */
static void add_running(const struct xc_process *p, const struct xc_wait *wait, struct xc_text *text)
{
	if (wait->kind != XC_WAIT_NONE || p->live || wait->thread->crashed || !xc_arch_is_x86_64(p->arch) ||
	    !wait->place)
		return;
	if (wait->through)
		xc_text_printf(text, "%s %s()", wait->in_handler ? "in a signal handler that interrupted" : "in",
			       xc_wait_kind_plain(wait->through));
	else if (wait->in_handler)
		xc_text_add(text, "in a signal handler");
	else
		xc_text_add(text, "running");
}

static const char *phrase(struct xc_process *p, const struct xc_wait *wait, bool paths, struct xc_arena *arena)
{
	struct xc_text text = {0};
	xc_wait_report_describe(p, wait, paths, &text);
	add_running(p, wait, &text);
	const char *copy = text.len ? xc_arena_strdup(arena, text.bytes) : NULL;
	xc_text_fini(&text);
	return copy;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void describe_group(const struct xc_waits *waits, const struct xc_stacks *stacks, struct xc_stack_group *group)
{
	const struct xc_stack *first = &stacks->stacks[group->members[0]];
	group->alike = group->on_descriptors = true;
	for (size_t i = 0; i < group->member_count; i++) {
		const struct xc_stack *stack = &stacks->stacks[group->members[i]];
		group->alike &= same(first->waits, stack->waits);
		group->on_descriptors &= is_on_descriptors(xc_waits_thread(waits, stack->tid));
	}
}

static void describe_stacks(struct xc_arena *arena, struct xc_process *p, struct xc_stacks *stacks)
{
	const struct xc_waits *waits = xc_waits_of(p);
	for (size_t i = 0; i < stacks->stack_count; i++) {
		struct xc_stack *stack = &stacks->stacks[i];
		if (stack->detached)
			continue;
		const struct xc_wait *wait = xc_waits_thread(waits, stack->tid);
		if (!wait)
			continue;
		stack->waits = phrase(p, wait, true, arena);
		stack->waits_redacted = wait->thread->call_file ? phrase(p, wait, false, arena) : stack->waits;
		stack->role = stack->tid == p->pid ? NULL : xc_arena_strdup(arena, wait->role);
	}
	for (size_t i = 0; i < stacks->group_count; i++)
		if (stacks->groups[i].member_count)
			describe_group(waits, stacks, &stacks->groups[i]);
}

void xc_wait_report_stacks(struct xc_section *section, struct xc_process *process)
{
	for (struct xc_item *item = section->items; item; item = item->next)
		if (item->kind == XC_ITEM_STACKS)
			describe_stacks(&section->report->arena, process, item->stacks);
}

/* Threads of one role with the same wait at the same place. */
struct alike {
	const struct xc_wait *first;
	const char *what, *place;
	size_t count;
};

/* Most of many threads are alike: only the latest groups are searched. */
static struct alike *find_alike(struct alike *groups, size_t count, const struct alike *one)
{
	enum { LAST = 256 };
	for (size_t i = count; i-- > 0 && count - i <= LAST;)
		if (same(groups[i].what, one->what) && same(groups[i].place, one->place) &&
		    same(groups[i].first->role, one->first->role))
			return &groups[i];
	return NULL;
}

static size_t collect_alike(struct xc_report *report, struct xc_process *p, struct alike *groups)
{
	const struct xc_waits *waits = xc_waits_of(p);
	struct xc_text text = {0};
	size_t count = 0;
	for (size_t i = 0; i < waits->count; i++) {
		struct alike one = {.first = &waits->items[i], .count = 1};
		if (one.first->kind == XC_WAIT_NONE || !(one.what = phrase(p, one.first, true, &report->arena)))
			continue;
		text.len = 0;
		if (one.first->has_place) {
			xc_wait_where(one.first, &text);
			one.place = xc_arena_strdup(&report->arena, text.bytes);
		}
		struct alike *known = find_alike(groups, count, &one);
		if (known)
			known->count++;
		else
			groups[count++] = one;
	}
	xc_text_fini(&text);
	return count;
}

void xc_wait_report_section(struct xc_report *report, struct xc_process *process)
{
	static const struct xc_column columns[] = {
		{"threads", "THREADS", XC_FIELD_COUNT, false},        {"tid", "FIRST", XC_FIELD_INTEGER, false},
		{"role", "STARTED IN", XC_FIELD_TEXT, false},         {"place", "IN", XC_FIELD_TEXT, false},
		{"waits", "WHAT IT WAITS FOR", XC_FIELD_TEXT, false},
	};
	enum { WAITS = 4 };
	struct alike *groups = xc_alloc((xc_waits_of(process)->count + 1) * sizeof *groups);
	size_t count = collect_alike(report, process, groups);
	struct xc_section *section = count ? xc_report_section(report, "waits", "Waiting") : NULL;
	struct xc_table *table = count ? xc_section_table(section, "waits", columns, XC_COUNT(columns)) : NULL;
	for (size_t i = 0; i < count; i++) {
		const struct alike *it = &groups[i];
		struct xc_cell row[] = {
			xc_cell_count(it->count),
			xc_cell_integer(it->first->thread->tid),
			xc_cell_text(it->first->role),
			it->place ? xc_cell_text(it->place) : xc_cell_null("no function of the program"),
			xc_cell_text(it->what),
		};
		row[WAITS].secret = it->first->thread->call_file != NULL;
		row[WAITS].redacted = row[WAITS].secret ? phrase(process, it->first, false, &report->arena) : NULL;
		xc_table_row(section, table, row);
	}
	free(groups);
}
