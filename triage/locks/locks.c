/* locks: the words of glibc's locks, which are part of its ABI (sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h and
 * those of x86, aarch64 and others; the same from 2.26 to 2.41; 64 bits, and 32 bits):
 *
 *  pthread_mutex_t    | lock 4 | count 4 | owner 4 | nusers 4 | kind 4 | …     32 bits: kind is before nusers
 *  pthread_rwlock_t   | readers 4 | writers 4 | wrphase 4 | writers' futex 4 | pad 8 | writer 4 | shared 4 | …
 *                                                                   32 bits: | flags, shared, … 4 | writer 4 |
 *
 * kind (nptl/pthreadP.h): bits 0, 1 normal, recursive, checked, adaptive; 16 robust; 32 priority inheritance; 128
 * process-shared. In robust and priority-inheritance mutexes the lock word is the owner's id with two flags. The owner
 * of a robust mutex is 0x7fffffff from when it was inherited from a dead owner until pthread_mutex_consistent. readers
 * (nptl/pthread_rwlock_common.c): bit 0 the writers' phase, 1 a writer has it or waits for it, >> 3 the number of
 * readers, which hold it in the readers' phase and wait in the writers'.
 *
 *  _IO_lock_t         | lock 4 | count 4 | owner 8: a struct pthread (namespace_tid.c) |  (sysdeps/nptl/stdio-lock.h)
 *
 * Rust (library/std/src/sys/sync/{mutex,rwlock,once}/futex.rs, 1.62 to 1.95): a word of 4 bytes. Mutex: 0 free, 1
 * locked, 2 locked with waiters. RwLock: 30 bits of readers, all set for a writer; two bits for kinds of waiters. */
#include "triage/locks/locks.h"

#include <stdlib.h>
#include <string.h>

#include "core/live/live.h"
#include "triage/locks/lock_holder.h"
#include "triage/locks/lock_name.h"
#include "triage/locks/lone_holder.h"
#include "triage/waits/namespace_tid.h"
#include "triage/locks/release_holder.h"
#include "triage/waits/wait_kind.h"
#include "triage/waits/waits.h"

enum {
	MUTEX_OWNER = 8,
	MUTEX_KIND_64 = 16,
	MUTEX_KIND_32 = 12,
	KIND_TYPE = 3,
	KIND_ROBUST = 16,
	KIND_INHERIT = 32,
	KIND_SHARED = 128,
	RWLOCK_WRITER_64 = 24,
	RWLOCK_WRITER_32 = 28,
	RWLOCK_SHARED_64 = 28,
	RWLOCK_SHARED_32 = 25,
	READERS_SHIFT = 3,
	READERS_WRPHASE = 1,
	READERS_WRLOCKED = 2,
	TID_MASK = 0x3fffffff,
	OWNER_DIED = 0x40000000,
	INCONSISTENT = 0x7fffffff,
	STREAM_OWNER = 8,
	RUST_READERS = (1 << 30) - 1,
	NAMED = 1000, /* locks that get names at most: each unwinds and reads variables */
};

/* ---- words ---- */

static void read_mutex(const struct xc_process *p, struct xc_lock *lock)
{
	uint64_t word, owner, kind;
	xc_addr kind_at = lock->addr + (p->arch->word == 8 ? MUTEX_KIND_64 : MUTEX_KIND_32);
	if (!xc_space_peek_uint(p->space, lock->addr, 4, &word) ||
	    !xc_space_peek_uint(p->space, lock->addr + MUTEX_OWNER, 4, &owner) ||
	    !xc_space_peek_uint(p->space, kind_at, 4, &kind))
		return;
	lock->known = true;
	lock->held = word != 0;
	lock->robust = kind & KIND_ROBUST;
	lock->shared = kind & KIND_SHARED;
	lock->reentrant = (kind & KIND_TYPE) == 1 || (kind & KIND_TYPE) == 2;
	lock->inherited = lock->robust && owner == INCONSISTENT;
	lock->died = lock->robust && (word & OWNER_DIED) && !(word & TID_MASK);
	if (kind & (KIND_ROBUST | KIND_INHERIT))
		owner = word & TID_MASK;
	if (lock->held && owner <= TID_MASK)
		lock->owner = (pid_t)owner;
}

static void read_rwlock(const struct xc_process *p, struct xc_lock *lock)
{
	uint64_t readers, writer, shared;
	bool wide = p->arch->word == 8;
	if (!xc_space_peek_uint(p->space, lock->addr, 4, &readers) ||
	    !xc_space_peek_uint(p->space, lock->addr + (wide ? RWLOCK_WRITER_64 : RWLOCK_WRITER_32), 4, &writer) ||
	    !xc_space_peek_uint(p->space, lock->addr + (wide ? RWLOCK_SHARED_64 : RWLOCK_SHARED_32), 1, &shared))
		return;
	lock->known = true;
	lock->shared = shared;
	lock->readers = readers & READERS_WRPHASE ? 0 : (uint32_t)readers >> READERS_SHIFT;
	if ((readers & READERS_WRLOCKED) && writer && writer <= TID_MASK)
		lock->owner = (pid_t)writer;
	lock->held = lock->owner || lock->readers;
}

/* A lock of the C library's own. That of a stream has its owner after it. */
static void read_library_lock(const struct xc_process *p, struct xc_lock *lock)
{
	uint64_t word, owner = 0;
	if (!xc_space_peek_uint(p->space, lock->addr, 4, &word))
		return;
	lock->known = true;
	lock->held = word != 0;
	if (lock->held && xc_arch_is_x86_64(p->arch) &&
	    xc_space_peek_uint(p->space, lock->addr + STREAM_OWNER, 8, &owner))
		lock->owner = xc_namespace_tid_at(p, owner);
	lock->reentrant = lock->owner != 0;
	lock->ownerless = !lock->owner;
	if (lock->owner)
		lock->kind = XC_LOCK_STREAM;
}

static void read_rust(const struct xc_process *p, struct xc_lock *lock)
{
	uint64_t word;
	if (!xc_space_peek_uint(p->space, lock->addr, 4, &word))
		return;
	lock->known = true;
	lock->held = word != 0;
	if (lock->kind == XC_LOCK_RWLOCK && (word & RUST_READERS) != RUST_READERS)
		lock->readers = (uint32_t)word & RUST_READERS;
}

static size_t index_of(const struct xc_waits *waits, const struct xc_wait *wait)
{
	return wait ? (size_t)(wait - waits->items) : XC_LOCK_NOBODY;
}

/* The kind of lock of a wait. */
static bool lock_kind(const struct xc_wait *wait, struct xc_lock *out)
{
	switch (wait->kind) {
	case XC_WAIT_RUST_MUTEX:
		out->ownerless = true;
		/* fall through */
	case XC_WAIT_MUTEX:
		out->kind = XC_LOCK_MUTEX;
		break;
	case XC_WAIT_RUST_READ:
	case XC_WAIT_RUST_WRITE:
		out->ownerless = true;
		/* fall through */
	case XC_WAIT_READ_LOCK:
	case XC_WAIT_WRITE_LOCK:
		out->kind = XC_LOCK_RWLOCK;
		break;
	case XC_WAIT_ONCE:
		out->kind = XC_LOCK_ONCE;
		out->ownerless = true;
		break;
	case XC_WAIT_LIBRARY_LOCK:
		out->kind = xc_wait_kind_allocates(wait->through) ? XC_LOCK_ARENA : XC_LOCK_LIBRARY;
		break;
	default:
		return false;
	}
	return wait->object != 0;
}

/* ---- the locks that are waited for ---- */

static int by_address(const void *a, const void *b)
{
	const struct xc_lock *x = a, *y = b;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* One for each wait, sorted; then duplicates are merged. */
static void collect(struct xc_process *p, struct xc_locks *l)
{
	size_t n = 0;
	struct xc_lock *all = xc_arena_alloc(&p->arena, l->waits->count * sizeof *all);
	for (size_t i = 0; i < l->waits->count; i++) {
		const struct xc_wait *wait = &l->waits->items[i];
		struct xc_lock one = {.addr = wait->object, .first = i, .holder = XC_LOCK_NOBODY};
		if (lock_kind(wait, &one))
			all[n++] = one;
	}
	if (n)
		qsort(all, n, sizeof *all, by_address);
	for (size_t i = 0; i < n; i++) {
		if (!l->lock_count || all[l->lock_count - 1].addr != all[i].addr)
			all[l->lock_count++] = all[i];
		struct xc_lock *lock = &all[l->lock_count - 1];
		lock->waiters++;
	}
	l->locks = all;
}

static size_t lock_at(const struct xc_locks *l, xc_addr addr)
{
	return XC_LOWER_BOUND(l->lock_count, i, l->locks[i].addr < addr);
}

static void read_locks(struct xc_process *p, struct xc_locks *l)
{
	struct xc_unwinder *unwinder = xc_unwinder_new(p);
	for (size_t i = 0; i < l->lock_count; i++) {
		struct xc_lock *lock = &l->locks[i];
		if (lock->kind == XC_LOCK_LIBRARY || lock->kind == XC_LOCK_ARENA)
			read_library_lock(p, lock);
		else if (lock->ownerless)
			read_rust(p, lock);
		else if (lock->kind == XC_LOCK_RWLOCK)
			read_rwlock(p, lock);
		else
			read_mutex(p, lock);
		lock->holder = index_of(l->waits, lock->owner ? xc_namespace_tid_thread(l->waits, lock->owner) : NULL);
		if (i < NAMED)
			xc_lock_name_find(p, &l->waits->items[lock->first], unwinder, lock);
		else
			lock->name = xc_arena_printf(&p->arena, "0x%llx", (unsigned long long)lock->addr);
	}
	xc_lock_name_settle(p, l, unwinder);
	xc_unwinder_free(unwinder);
}

/* ---- who waits for whom ---- */

static void link_locks(struct xc_locks *l)
{
	for (size_t i = 0; i < l->waits->count; i++) {
		struct xc_lock kind;
		l->lock_of[i] = XC_LOCK_NOBODY;
		if (lock_kind(&l->waits->items[i], &kind))
			l->lock_of[i] = lock_at(l, l->waits->items[i].object);
	}
}

static void link_threads(struct xc_locks *l)
{
	for (size_t i = 0; i < l->waits->count; i++) {
		const struct xc_wait *wait = &l->waits->items[i];
		l->next[i] = XC_LOCK_NOBODY;
		if (l->lock_of[i] != XC_LOCK_NOBODY) {
			const struct xc_lock *lock = &l->locks[l->lock_of[i]];
			bool odd = lock->holder == i && lock->reentrant;
			l->next[i] = odd ? XC_LOCK_NOBODY : lock->holder;
		} else if (wait->kind == XC_WAIT_THREAD) {
			l->next[i] = index_of(l->waits, wait->target ? xc_waits_thread(l->waits, wait->target) : NULL);
		}
	}
}

/* Starts with the member with the lowest id. */
static void add_cycle(struct xc_process *p, struct xc_locks *l, size_t at)
{
	size_t first = at, count = 1;
	for (size_t i = l->next[at]; i != at; i = l->next[i], count++)
		if (p->threads[i].tid < p->threads[first].tid)
			first = i;
	struct xc_cycle cycle = {.count = count, .members = xc_arena_alloc(&p->arena, count * sizeof *cycle.members)};
	cycle.likely = l->waits->ids_are == XC_IDS_UNKNOWN;
	for (size_t k = 0, i = first; k < count; k++, i = l->next[i]) {
		cycle.members[k] = i;
		cycle.timed |= l->waits->items[i].timed;
		cycle.guessed |= l->waits->items[i].guessed;
		cycle.likely |= l->lock_of[i] != XC_LOCK_NOBODY && l->locks[l->lock_of[i]].why;
		if (p->live && !xc_live_thread_slept(p, &p->threads[i]))
			return;
	}
	for (size_t k = 0; k < count; k++)
		if (l->lock_of[cycle.members[k]] != XC_LOCK_NOBODY)
			l->locks[l->lock_of[cycle.members[k]]].in_cycle = true;
	l->cycles[l->cycle_count++] = cycle;
}

/* Every thread waits for one other at most: a walk that meets its own traces has found a cycle. */
static void find_cycles(struct xc_process *p, struct xc_locks *l)
{
	size_t n = l->waits->count, *walk_of = xc_alloc((n + 1) * sizeof *walk_of);
	l->cycles = xc_arena_alloc(&p->arena, (n + 1) * sizeof *l->cycles);
	for (size_t start = 0; start < n; start++) {
		size_t i = start;
		while (i != XC_LOCK_NOBODY && !walk_of[i]) {
			walk_of[i] = start + 1;
			i = l->next[i];
		}
		if (i != XC_LOCK_NOBODY && walk_of[i] == start + 1)
			add_cycle(p, l, i);
	}
	free(walk_of);
}

const struct xc_locks *xc_locks_of(struct xc_process *process)
{
	if (process->locks)
		return process->locks;
	struct xc_locks *l = xc_arena_alloc(&process->arena, sizeof *l);
	l->waits = xc_waits_of(process);
	l->lock_of = xc_arena_alloc(&process->arena, (l->waits->count + 1) * sizeof *l->lock_of);
	l->next = xc_arena_alloc(&process->arena, (l->waits->count + 1) * sizeof *l->next);
	collect(process, l);
	read_locks(process, l);
	link_locks(l);
	xc_lock_holder_guess(process, l);
	xc_release_holder_guess(process, l);
	xc_lone_holder_guess(process, l);
	link_threads(l);
	find_cycles(process, l);
	process->locks = l;
	return l;
}
