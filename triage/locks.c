/* locks: the words of glibc's locks, which are part of its ABI (sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h and those of x86, aarch64
 * and others; the same from 2.26 to 2.41; 64 bits, and 32 bits):
 *
 *	pthread_mutex_t    | lock 4 | count 4 | owner 4 | nusers 4 | kind 4 | …     kind stands before nusers with 32 bits
 *	pthread_rwlock_t   | readers 4 | writers 4 | wrphase 4 | writers' futex 4 | pad 8 | writer 4 | shared 4 | …
 *	                                                                 32 bits: | flags, shared, … 4 | writer 4 |
 *
 * kind (nptl/pthreadP.h): bits 0, 1 normal, recursive, checked, adaptive; 16 robust; 32 priority inherited; 128 shared by processes. Where it
 * is robust or inherits, the lock's word is the owner's id with two flags. readers >> 3 counts those who read. */
#include "locks.h"

#include <stdlib.h>
#include <string.h>

#include "../core/live.h"
#include "lockname.h"

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
	READERS_WRLOCKED = 2,
	TID_MASK = 0x3fffffff,
	NAMED = 1000, /* locks that are given names: each unwinds and reads variables */
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
	lock->readers = (uint32_t)readers >> READERS_SHIFT;
	if ((readers & READERS_WRLOCKED) && writer && writer <= TID_MASK)
		lock->owner = (pid_t)writer;
	lock->held = lock->owner || lock->readers;
}

static size_t thread_index(const struct xc_waits *waits, pid_t tid)
{
	const struct xc_wait *wait = tid > 0 ? xc_waits_thread(waits, tid) : NULL;
	return wait ? (size_t)(wait - waits->items) : XC_LOCK_NOBODY;
}

static bool is_lock(const struct xc_wait *wait)
{
	return wait->object &&
	       (wait->kind == XC_WAIT_MUTEX || wait->kind == XC_WAIT_READ_LOCK || wait->kind == XC_WAIT_WRITE_LOCK);
}

/* ---- the locks that are waited for ---- */

static int by_address(const void *a, const void *b)
{
	const struct xc_lock *x = a, *y = b;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* One for each wait, sorted; then equal ones become one. */
static void collect(struct xc_process *p, struct xc_locks *l)
{
	size_t n = 0;
	struct xc_lock *all = xc_arena_alloc(&p->arena, l->waits->count * sizeof *all);
	for (size_t i = 0; i < l->waits->count; i++) {
		const struct xc_wait *wait = &l->waits->items[i];
		if (is_lock(wait))
			all[n++] = (struct xc_lock){.addr = wait->object,
						    .is_rwlock = wait->kind != XC_WAIT_MUTEX,
						    .first = i,
						    .holder = XC_LOCK_NOBODY};
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
	size_t lo = 0, hi = l->lock_count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (l->locks[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void read_locks(struct xc_process *p, struct xc_locks *l)
{
	for (size_t i = 0; i < l->lock_count; i++) {
		struct xc_lock *lock = &l->locks[i];
		if (lock->is_rwlock)
			read_rwlock(p, lock);
		else
			read_mutex(p, lock);
		lock->holder = thread_index(l->waits, lock->owner);
		if (i < NAMED)
			xc_lockname_find(p, &l->waits->items[lock->first], lock);
		else
			lock->name = xc_arena_printf(&p->arena, "0x%llx", (unsigned long long)lock->addr);
	}
}

/* ---- who waits for whom ---- */

static void link_threads(struct xc_locks *l)
{
	for (size_t i = 0; i < l->waits->count; i++) {
		const struct xc_wait *wait = &l->waits->items[i];
		l->lock_of[i] = l->next[i] = XC_LOCK_NOBODY;
		if (is_lock(wait)) {
			const struct xc_lock *lock = &l->locks[l->lock_of[i] = lock_at(l, wait->object)];
			bool odd = lock->holder == i && lock->reentrant;
			l->next[i] = odd ? XC_LOCK_NOBODY : lock->holder;
		} else if (wait->kind == XC_WAIT_THREAD) {
			l->next[i] = thread_index(l->waits, wait->target);
		}
	}
}

/* Begins with the member of the lowest id. */
static void add_cycle(struct xc_process *p, struct xc_locks *l, size_t at)
{
	size_t first = at, count = 1;
	for (size_t i = l->next[at]; i != at; i = l->next[i], count++)
		if (p->threads[i].tid < p->threads[first].tid)
			first = i;
	struct xc_cycle cycle = {.count = count, .members = xc_arena_alloc(&p->arena, count * sizeof *cycle.members)};
	for (size_t k = 0, i = first; k < count; k++, i = l->next[i]) {
		cycle.members[k] = i;
		cycle.timed |= l->waits->items[i].timed;
		cycle.guessed |= l->waits->items[i].guessed;
		if (p->live && !xc_live_slept(p, &p->threads[i]))
			return;
	}
	l->cycles[l->cycle_count++] = cycle;
}

/* Every thread waits for one at most: a walk that meets its own traces has found a circle. */
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
	link_threads(l);
	find_cycles(process, l);
	process->locks = l;
	return l;
}

void xc_lock_words(const struct xc_lock *lock, struct xc_text *text)
{
	xc_text_add(text, lock->is_rwlock ? "reader-writer lock " : "mutex ");
	xc_text_add(text, lock->is_expression ? "`" : "");
	xc_text_name(text, lock->name);
	xc_text_add(text, lock->is_expression ? "`" : "");
	if (lock->is_local)
		xc_text_printf(text, " (0x%llx)", (unsigned long long)lock->addr);
}
