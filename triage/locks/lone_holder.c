/* lone_holder: a guard is on the stack of its thread, or in what the stack leads to: a guard that was boxed, or given
 * away with mem::forget(), is not found, so the holder is only likely. A temporary guard lives to the end of its
 * statement: `while let Some(x) = m.lock().unwrap().pop() { … }` keeps it through the loop's body. */
#include "triage/locks/lone_holder.h"

#include "triage/code/rust_lock.h"
#include "triage/waits/frame_words.h"
#include "triage/util/user_code.h"

enum { WORDS = 1 << 20, PIECE = 512, FRAMES = 16, FRAME_WORDS = 256, OBJECT = 1 << 12 };

/* The lock, or the beginning of an object that it is in: an optimised guard has no word of its own, and its address
 * is made from that of the object, as of what an Arc leads to. */
static bool leads_to(xc_addr lock, uint64_t value)
{
	return lock - value <= OBJECT;
}

static bool has_in_register(const struct xc_process *p, const struct xc_thread *thread, xc_addr addr)
{
	const struct xc_frame frame = {.regs = thread->regs};
	struct xc_frame_words words = xc_frame_words(p, &frame, 1, NULL, 0);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		if (leads_to(addr, value))
			return true;
	return false;
}

/* Is the address on the thread's stack? Also when that cannot be told. */
static bool may_have(const struct xc_process *p, const struct xc_thread *thread, xc_addr addr, size_t *left)
{
	uint64_t words[PIECE], sp;
	const struct xc_mapping *stack =
		xc_regs_get(&thread->regs, p->arch->sp, &sp) ? xc_process_mapping(p, sp) : NULL;
	if (!thread->has_regs || !stack || p->arch->word != sizeof *words || has_in_register(p, thread, addr))
		return true;
	for (xc_addr at = sp & ~(xc_addr)7; at + sizeof *words <= stack->hi; at += sizeof words) {
		size_t want = stack->hi - at < sizeof words ? (size_t)(stack->hi - at) + 1 : sizeof words;
		size_t got = xc_space_peek(p->space, at, words, want);
		if (got < want || *left < PIECE)
			return true;
		*left -= PIECE;
		for (size_t i = 0; i < got / sizeof *words; i++)
			if (leads_to(addr, words[i]))
				return true;
	}
	return false;
}

static bool others_may_have(const struct xc_process *p, const struct xc_locks *l, const struct xc_lock *lock)
{
	size_t left = WORDS;
	for (size_t i = 0; i < l->waits->count; i++)
		if (i != lock->first && may_have(p, l->waits->items[i].thread, lock->addr, &left))
			return true;
	return false;
}

/* ---- where the guard is ---- */

static bool has_address(const struct xc_process *p, const struct xc_frame *frame, const struct xc_frame *above,
			xc_addr addr)
{
	struct xc_frame_words words = xc_frame_words(p, frame, 0, above, FRAME_WORDS);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		if (value == addr)
			return true;
	return false;
}

/* The innermost function outside of the one that waits which has the address and drops a guard; else the one that
 * waits, if it does. NULL: none. */
static const struct xc_place *find_guard(const struct xc_process *p, const struct xc_wait *wait, xc_addr addr)
{
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame = wait->frame, above;
	const struct xc_place *found = NULL;
	const char *stop;
	size_t level;
	bool more = wait->has_place;
	for (size_t i = 0; more && i < FRAMES; i++, frame = above) {
		const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(&frame));
		more = xc_unwind_step(u, &frame, &above, &stop);
		if (!more || !xc_user_code_level(place, &level) || !has_address(p, &frame, &above, addr) ||
		    !xc_rust_lock_drops(p, frame.pc))
			continue;
		found = place;
		if (i)
			break;
	}
	xc_unwinder_free(u);
	return found;
}

static void settle(struct xc_process *p, const struct xc_locks *l, struct xc_lock *lock)
{
	struct xc_text text = {0};
	const struct xc_wait *wait = &l->waits->items[lock->first];
	const struct xc_place *place = find_guard(p, wait, lock->addr);
	size_t level;
	lock->holder = lock->first;
	xc_text_add(&text,
		    l->waits->count == 1 ? "there is no other thread" : "no other thread's stack has its address");
	if (place && xc_user_code_level(place, &level) && xc_place_function(place, level))
		xc_text_printf(&text, "; perhaps by a guard without a name in %s", xc_place_function(place, level));
	lock->why = xc_arena_strdup(&p->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_lone_holder_guess(struct xc_process *process, struct xc_locks *locks)
{
	for (size_t i = 0; i < locks->lock_count; i++) {
		struct xc_lock *lock = &locks->locks[i];
		bool open = lock->known && lock->held && lock->holder == XC_LOCK_NOBODY && lock->waiters == 1;
		if (open && xc_wait_is_rust(&locks->waits->items[lock->first]) &&
		    !others_may_have(process, locks, lock))
			settle(process, locks, lock);
	}
}
