/* release_holder: see release_holder.h. The function where a thread waits for a mutex gives it back later, too: it
 * counts for the other mutexes only. */
#include "triage/locks/release_holder.h"

#include "triage/code/body_cache.h"
#include "triage/code/rust_release.h"
#include "triage/waits/frame_words.h"

enum { OPEN = 64, THREADS = 4096, FRAMES = 16, WORDS = 64, OBJECT = 1 << 12 };

struct search {
	struct xc_process *process;
	struct xc_locks *locks;
	struct xc_lock *open[OPEN];
	size_t holder[OPEN];
	const char *function[OPEN];
	bool doubtful[OPEN];
	size_t count;
	struct xc_unwinder *unwinder;
	struct xc_body_cache *bodies;
	struct xc_arena arena;
};

/* Has the frame a word that leads to the lock, or to the object that it is in? */
static bool leads_near(const struct search *s, const struct xc_frame *frame, const struct xc_frame *above, xc_addr lock)
{
	struct xc_frame_words words = xc_frame_words(s->process, frame, 1, above, WORDS);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		if (lock - value < OBJECT)
			return true;
	return false;
}

static void take(struct search *s, size_t number, size_t thread, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(s->process, xc_frame_lookup(frame));
	if (s->holder[number] != XC_LOCK_NOBODY && s->holder[number] != thread)
		s->doubtful[number] = true;
	if (s->holder[number] != XC_LOCK_NOBODY)
		return;
	s->holder[number] = thread;
	s->function[number] = xc_place_outer_function(place);
}

static void look_at_frame(struct search *s, size_t thread, const struct xc_frame *frame, const struct xc_frame *above,
			  bool outward)
{
	size_t awaited = s->locks->lock_of[thread];
	for (size_t i = 0; i < s->count; i++) {
		bool waits = awaited != XC_LOCK_NOBODY && &s->locks->locks[awaited] == s->open[i];
		if ((waits && !outward) || !leads_near(s, frame, above, s->open[i]->addr))
			continue;
		if (xc_rust_release(xc_body_cache_get(s->bodies, xc_frame_lookup(frame)), frame, s->open[i]->addr) ==
		    XC_RUST_RELEASE_FOLLOWS)
			take(s, i, thread, frame);
	}
}

static void look_at_thread(struct search *s, size_t thread)
{
	const struct xc_wait *wait = &s->locks->waits->items[thread];
	struct xc_frame frame, above;
	const char *stop;
	bool more = xc_unwind_first(s->unwinder, wait->thread, &frame), outward = false;
	for (unsigned n = 0; more && n < FRAMES && frame.trust != XC_TRUST_SCAN; n++) {
		bool waits_here = wait->has_place && frame.pc == wait->frame.pc;
		more = xc_unwind_step(s->unwinder, &frame, &above, &stop);
		look_at_frame(s, thread, &frame, more ? &above : NULL, outward);
		outward |= waits_here;
		if (more)
			frame = above;
	}
}

static void settle(struct search *s, size_t number)
{
	struct xc_lock *lock = s->open[number];
	if (s->holder[number] == XC_LOCK_NOBODY || (s->doubtful[number] && lock->readers < 2))
		return;
	lock->holder = s->holder[number];
	lock->why = xc_arena_printf(&s->process->arena, "%s, which takes it, gives it back in the code that comes next",
				    s->function[number] ? s->function[number] : "a function");
	if (lock->readers > 1)
		lock->why = xc_arena_printf(&s->process->arena, "one of its %u readers: %s", (unsigned)lock->readers,
					    lock->why);
}

static void collect(struct search *s)
{
	for (size_t i = 0; i < s->locks->lock_count && s->count < OPEN; i++) {
		struct xc_lock *lock = &s->locks->locks[i];
		if (!lock->known || !lock->held || lock->holder != XC_LOCK_NOBODY || !lock->waiters ||
		    !xc_wait_is_rust(&s->locks->waits->items[lock->first]))
			continue;
		s->holder[s->count] = XC_LOCK_NOBODY;
		s->open[s->count++] = lock;
	}
}

void xc_release_holder_guess(struct xc_process *process, struct xc_locks *locks)
{
	struct search s = {.process = process, .locks = locks};
	if (!process->arch->unwinds)
		return;
	collect(&s);
	if (!s.count)
		return;
	s.unwinder = xc_unwinder_new(process);
	s.bodies = xc_body_cache_new(process, &s.arena);
	for (size_t i = 0; i < locks->waits->count && i < THREADS; i++)
		look_at_thread(&s, i);
	for (size_t i = 0; i < s.count; i++)
		settle(&s, i);
	xc_unwinder_free(s.unwinder);
	xc_arena_fini(&s.arena);
}
