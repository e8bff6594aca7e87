/* wait_syscall: the arguments of the futex call give the word, and the value expected there. The sleeping functions
 * determine the object that contains the word (glibc, nptl/, checked with 2.36; inlined ones are named by debug
 * information only):
 *
 *	function                  sleeps on                                   expects
 *	pthread_mutex_lock        mutex + 0                                   2, or the owner's id (PI, robust)
 *	pthread_rwlock_rdlock     rwlock + 8 __wrphase_futex, + 0 __readers   1 | 2; the readers' word
 *	pthread_rwlock_wrlock     rwlock + 12 __writers_futex, + 8            1 | 2; 2 (bit 1: somebody sleeps)
 *	pthread_cond_wait         cond + 40 or + 44 (up to 2.40), + 32 or + 36 __g_signals
 *	sem_wait                  sem + 0, or + 4 on machines of the other byte order
 *	pthread_join              struct pthread's tid                        the id of the thread
 *	pthread_barrier_wait      barrier + 4 current_round (from 2.23 on)    what it was
 *	pthread_mutex_lock_full   a local variable, forever                   0: the kernel refused to wait for this
 *	                                                                      PI mutex (EDEADLK, ESRCH)
 *	RwLock::write_contended   rwlock + 4 writer_notify (Rust)
 *	Once::call_inner          the state of the parked thread (Rust up to 1.65): the Once leads to its node
 *
 * nptl/pthread_rwlock_common.c, sysdeps/nptl/bits/thread-shared-types.h, nptl/pthread_join_common.c. */
#include "triage/waits/wait_impl.h"

#include <elf.h>
#include <string.h>

#include "core/live/sandbox.h"
#include "triage/waits/frame_words.h"
#include "triage/waits/namespace_tid.h"

enum {
	KIND_64 = 16, /* of a mutex */
	KIND_32 = 12,
};

const char *xc_wait_syscall_name(struct xc_process *process, const struct xc_thread *thread)
{
	if (thread->syscall < 0)
		return NULL;
	xc_auto(xc_freep) char *name = xc_sandbox_call_name(process->arch->machine, thread->syscall);
	return xc_arena_strdup(&process->arena, name);
}

static bool is_x86(const struct xc_process *p)
{
	return p->arch->machine == EM_X86_64 || p->arch->machine == EM_386;
}

/* Did a signal interrupt a system call? Then pc is after its instruction, or on it when the call is to be restarted. */
static bool interrupted_call(const struct xc_wait_stack *w, uint64_t args[6])
{
	static const int numbers[6] = {5, 4, 1, 10, 8, 9};
	uint8_t code[4];
	const struct xc_frame *frame = &w->frames[w->base];
	if (!w->base || w->process->arch->machine != EM_X86_64 || frame->pc < 2 ||
	    xc_space_peek(w->process->space, frame->pc - 2, code, 4) != 4 ||
	    (memcmp(code, "\x0f\x05", 2) != 0 && memcmp(code + 2, "\x0f\x05", 2) != 0))
		return false;
	for (size_t i = 0; i < 6; i++)
		if (!xc_regs_get(&frame->regs, numbers[i], &args[i]))
			return false;
	return true;
}

/* The object that contains the word. */
static xc_addr object_at(const struct xc_wait *wait, xc_addr word, uint32_t expected)
{
	enum { SLEEPERS = 2, BOTH = 3 };
	switch (wait->kind) {
	case XC_WAIT_MUTEX:
	case XC_WAIT_SEMAPHORE:
	case XC_WAIT_ONCE:
	case XC_WAIT_LIBRARY_LOCK:
	case XC_WAIT_ATOMIC:
	case XC_WAIT_FUTEX:
		return word;
	case XC_WAIT_BARRIER:
		return word - 4;
	case XC_WAIT_RUST_MUTEX:
	case XC_WAIT_RUST_READ:
	case XC_WAIT_RUST_CONDITION:
		return word;
	case XC_WAIT_RUST_WRITE:
		return word - 4;
	case XC_WAIT_READ_LOCK:
		return expected == BOTH ? word - 8 : word;
	case XC_WAIT_WRITE_LOCK:
		return expected == BOTH ? word - 12 : expected == SLEEPERS ? word - 8 : 0;
	default:
		return 0;
	}
}

/* Without function names: a word with sleepers, followed by a thread of the process as owner, one user, and a kind:
 * struct __pthread_mutex_s of 64 bits (locks.c). */
static bool looks_like_mutex(const struct xc_wait_stack *w, xc_addr word, uint32_t expected)
{
	const struct xc_process *p = w->process;
	enum { OWNER = 8, USERS = 12, KIND = 16, KINDS = 0x3ff, CONTENDED = 2 };
	uint64_t now, owner, users, kind;
	return p->arch->word == 8 && expected == CONTENDED && xc_space_peek_uint(p->space, word, 4, &now) &&
	       now == CONTENDED && xc_space_peek_uint(p->space, word + OWNER, 4, &owner) && owner <= INT32_MAX &&
	       xc_namespace_tid_thread(w->waits, (pid_t)owner) &&
	       xc_space_peek_uint(p->space, word + USERS, 4, &users) && users == 1 &&
	       xc_space_peek_uint(p->space, word + KIND, 4, &kind) && kind <= KINDS;
}

/* The owner of a PI mutex (locks.c); 0: it is not one, or nobody holds it. */
static pid_t inherited_owner(const struct xc_process *p, xc_addr addr)
{
	enum { INHERIT = 32, KINDS = 0x3ff, IDS = 0x3fffffff };
	uint64_t word, kind;
	bool good = addr && addr % 4 == 0 && xc_space_peek_uint(p->space, addr, 4, &word) &&
		    xc_space_peek_uint(p->space, addr + (p->arch->word == 8 ? KIND_64 : KIND_32), 4, &kind) &&
		    kind <= KINDS && (kind & INHERIT);
	return good ? (pid_t)(word & IDS) : 0;
}

/* A mutex that the thread itself holds is taken only when there is no other. */
static void try_inherited(const struct xc_wait_stack *w, xc_addr addr, pid_t self, xc_addr *found)
{
	xc_addr begins[] = {addr, addr - (w->process->arch->word == 8 ? KIND_64 : KIND_32)};
	for (size_t i = 0; i < XC_COUNT(begins); i++) {
		pid_t owner = inherited_owner(w->process, begins[i]);
		if (owner && (!*found || owner != self))
			*found = begins[i];
	}
}

/* The argument of pthread_mutex_lock, or the address of its kind: in its frame, or in a preserved register. */
static xc_addr find_inherited(const struct xc_wait_stack *w, pid_t self)
{
	enum { WORDS = 64 };
	size_t end = xc_wait_stack_inner_end(w);
	uint64_t value;
	xc_addr found = 0;
	for (size_t i = w->base; i + 1 < end && xc_wait_stack_is_runtime(w, i); i++) {
		struct xc_frame_words words = xc_frame_words(w->process, &w->frames[i], 1, &w->frames[i + 1], WORDS);
		while (xc_frame_words_next(&words, &value))
			try_inherited(w, value, self, &found);
	}
	return found;
}

/* ---- a Once of Rust whose waiters queue up ---- */

/* library/std/src/sync/once.rs (1.63): the word of a Once contains its state in two bits, RUNNING is 2, and the
 * address of the last waiter's node, which is on that thread's stack: struct Waiter of three words in an order that
 * the compiler chose, `next` and the parked thread among them. */
enum { ONCE_STATES = 3, ONCE_RUNNING = 2, WAITER_WORDS = 3, QUEUE_STEPS = 64 };

/* Does a queue of waiters that starts at this node lead into [lo, hi)? */
static bool queue_leads_to(const struct xc_process *p, xc_addr node, xc_addr lo, xc_addr hi, unsigned *steps)
{
	if (node >= lo && node < hi)
		return true;
	for (unsigned k = 0; k < WAITER_WORDS && *steps; k++) {
		uint64_t next;
		--*steps;
		if (xc_space_peek_uint(p->space, node + k * p->arch->word, p->arch->word, &next) && next &&
		    next != node && next % p->arch->word == 0 && queue_leads_to(p, next, lo, hi, steps))
			return true;
	}
	return false;
}

static bool is_once_of(const struct xc_process *p, xc_addr addr, xc_addr lo, xc_addr hi)
{
	unsigned steps = QUEUE_STEPS;
	uint64_t word;
	return addr && addr % p->arch->word == 0 && xc_space_peek_uint(p->space, addr, p->arch->word, &word) &&
	       (word & ONCE_STATES) == ONCE_RUNNING && (addr < lo || addr >= hi) &&
	       queue_leads_to(p, word & ~(uint64_t)ONCE_STATES, lo, hi, &steps);
}

/* The Once whose queue has a node in the library's frames: its address is in one of these frames, or in that of
 * their caller. */
static xc_addr find_queued_once(const struct xc_wait_stack *w)
{
	enum { WORDS = 512 };
	const struct xc_process *p = w->process;
	uint64_t lo, hi, value;
	size_t end = w->base;
	while (end < w->count && xc_wait_stack_is_runtime(w, end))
		end++;
	if (end + 1 >= w->count || !xc_regs_get(&w->frames[w->base].regs, p->arch->sp, &lo) ||
	    !xc_regs_get(&w->frames[end].regs, p->arch->sp, &hi) || hi <= lo)
		return 0;
	const struct xc_frame *first = &w->frames[w->base];
	struct xc_frame_words words = xc_frame_words(p, first, end - w->base + 1, &w->frames[end], WORDS);
	while (xc_frame_words_next(&words, &value))
		if (is_once_of(p, value, lo, hi))
			return value;
	return 0;
}

/* Does it sleep on a local variable of pthread_mutex_lock? */
static bool sleeps_forever(const struct xc_wait_stack *w, const struct xc_wait *wait, const uint64_t args[6])
{
	enum { NEAR = 512 };
	uint64_t sp;
	return w->count && wait->kind == XC_WAIT_MUTEX && !(uint32_t)args[2] && !args[3] &&
	       xc_regs_get(&w->frames[w->base].regs, w->process->arch->sp, &sp) && args[0] >= sp && args[0] - sp < NEAR;
}

/* The listed id of a thread, by its id in the process's namespace. A thread that is not found has ended, unless the
 * ids are ambiguous. */
static pid_t listed_id(const struct xc_waits *waits, pid_t id)
{
	const struct xc_wait *wait = xc_namespace_tid_thread(waits, id);
	if (wait)
		return wait->thread->tid;
	return waits->ids_are == XC_IDS_SAME ? id : 0;
}

static void by_futex(const struct xc_wait_stack *w, struct xc_wait *wait, const uint64_t args[6])
{
	enum { COMMANDS = 0x7f, WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, REQUEUE_PI = 11, LOCK_PI2 = 13 };
	uint64_t command = args[1] & COMMANDS;
	if (command != WAIT && command != LOCK_PI && command != WAIT_BITSET && command != REQUEUE_PI &&
	    command != LOCK_PI2)
		return;
	if (wait->kind == XC_WAIT_NONE)
		wait->kind = XC_WAIT_FUTEX;
	wait->word = args[0];
	if (wait->kind == XC_WAIT_FUTEX && looks_like_mutex(w, wait->word, (uint32_t)args[2])) {
		wait->kind = XC_WAIT_MUTEX;
		wait->guessed = true;
	}
	wait->refused = sleeps_forever(w, wait, args);
	wait->object = wait->refused  ? find_inherited(w, wait->namespace_tid)
		       : wait->queued ? find_queued_once(w)
				      : object_at(wait, wait->word, (uint32_t)args[2]);
	wait->timed |= args[3] != 0;
	if (wait->kind == XC_WAIT_THREAD)
		wait->target = listed_id(w->waits, (pid_t)(uint32_t)args[2]);
}

void xc_wait_syscall_find(struct xc_wait_stack *w, struct xc_wait *wait)
{
	const struct xc_thread *thread = wait->thread;
	uint64_t args[6];
	wait->call = w->base ? NULL : wait->call;
	if (!w->base && thread->call_known && wait->call && strncmp(wait->call, "futex", 5) == 0) {
		by_futex(w, wait, thread->call_args);
	} else if (!w->base && thread->syscall >= 0) {
		wait->kind = XC_WAIT_CALL;
	} else if (wait->kind != XC_WAIT_NONE && interrupted_call(w, args)) {
		by_futex(w, wait, args);
	} else if (is_x86(w->process)) { /* it was about to wait, and does not sleep */
		wait->kind = XC_WAIT_NONE;
	}
}
