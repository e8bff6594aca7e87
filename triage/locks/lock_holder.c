/* lock_holder: see lock_holder.h.
 *
 * A guard (MutexGuard, std::shared_lock) is a variable that contains the lock's address while the lock is held.
 * After an early release the address may remain: where the code does not show that, a holder found by it is only
 * likely. In the innermost function of a thread that waits for the lock, the guard is likely the one that is not
 * constructed yet. pthread_once and similar functions keep the address of the control word in their frame while they
 * run the initializer. A static variable of C++ leaves only its function on the stack. A guard of Rust may have no
 * name: a second pass looks for its two words. And only who holds a lock of Rust has references into what it protects:
 * that pass looks for these, too. */
#include "triage/locks/lock_holder.h"

#include <string.h>

#include "dwarf/stack/variable.h"
#include "triage/locks/guard.h"
#include "triage/locks/lock_holder_impl.h"
#include "triage/waits/frame_words.h"

enum { OPEN = XC_HOLDER_OPEN, THREADS = 4096, FRAMES = XC_HOLDER_FRAMES, WORDS = 64, NAMELESS_WORDS = 1 << 22 };

/* ---- guards ---- */

static bool wants(void *user, const struct xc_type *type)
{
	struct xc_holder_search *s = user;
	bool owns;
	if (s->variables == XC_HOLDER_VARIABLES)
		return false;
	s->variables++;
	return xc_guard_is(xc_type_strip(type), &owns);
}

/* A guard of a reader in a thread that waits to write, or the other way round, already exists. */
static bool is_other_mode(const struct xc_holder_search *s, const struct xc_type *type)
{
	enum xc_wait_kind kind = xc_holder_wait(s)->kind;
	return xc_guard_is_to_read(type) ? kind == XC_WAIT_WRITE_LOCK || kind == XC_WAIT_RUST_WRITE
					 : kind == XC_WAIT_READ_LOCK || kind == XC_WAIT_RUST_READ;
}

/* Was the guard dropped? Its word remains. */
static bool is_over(const struct xc_holder_search *s, const struct xc_value *guard, const struct xc_lock *lock)
{
	return xc_holder_gave_back(s, lock) ||
	       (guard->kind == XC_VALUE_MEMORY &&
		xc_rust_release_is_done(xc_holder_body(s), &s->frame, guard->addr, guard->addr + xc_value_size(guard)));
}

static void look_at_guard(struct xc_holder_search *s, const struct xc_named_value *variable, size_t level)
{
	const struct xc_type *type = xc_type_strip(variable->value.type);
	bool owns;
	if (!xc_guard_is(type, &owns))
		return;
	for (size_t i = 0; i < s->open_count; i++)
		if ((s->open[i]->kind == XC_LOCK_MUTEX || s->open[i]->kind == XC_LOCK_RWLOCK) &&
		    (s->outward || !xc_holder_waits_for(s, s->open[i]) || is_other_mode(s, type)) &&
		    xc_guard_has(&variable->value, s->open[i]->addr, owns) &&
		    !is_over(s, &variable->value, s->open[i]) && xc_holder_takes(s, i))
			s->open[i]->why = xc_guard_describe(s->place, level, variable,
							    s->open[i]->kind == XC_LOCK_RWLOCK, &s->process->arena);
}

static void look_at_variables(struct xc_holder_search *s)
{
	struct xc_frame_context context = {.process = s->process,
					   .thread = xc_holder_wait(s)->thread,
					   .unwinder = s->unwinder,
					   .frame = &s->frame,
					   .place = s->place};
	struct xc_arena scratch = {0};
	for (size_t level = 0; level < s->place->level_count; level++)
		for (int locals = 0; locals < 2; locals++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values_of(&context, level, locals, wants, s, &scratch, &values);
			for (size_t i = 0; i < count; i++)
				look_at_guard(s, &values[i], level);
		}
	xc_arena_fini(&scratch);
}

/* ---- what is done once ---- */

static bool calls_once(const struct xc_place *place)
{
	struct xc_wait told = {.kind = XC_WAIT_NONE};
	size_t count = place->level_count ? place->level_count : 1;
	for (size_t l = 0; l < count; l++)
		xc_wait_kind_update(&told, xc_place_function(place, l));
	return told.kind == XC_WAIT_ONCE;
}

/* Is the address in the frame, or in a register that the frame's callees preserve? */
static bool has_word(const struct xc_holder_search *s, xc_addr addr)
{
	struct xc_frame_words words = xc_frame_words(s->process, &s->frame, 1, s->above, WORDS);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		if (value == addr)
			return true;
	return false;
}

static void look_at_call(struct xc_holder_search *s)
{
	bool once = s->outward && calls_once(s->place);
	for (size_t i = 0; once && i < s->open_count; i++)
		if (s->open[i]->kind == XC_LOCK_ONCE && has_word(s, s->open[i]->addr) && xc_holder_takes(s, i))
			s->open[i]->why = "its initializer is on the stack";
}

static bool has_function(const struct xc_place *place, const char *name)
{
	size_t count = place->level_count ? place->level_count : 1;
	for (size_t l = 0; l < count; l++) {
		const char *function = xc_place_function(place, l);
		if (function && strcmp(function, name) == 0)
			return true;
	}
	return false;
}

/* The function of a static variable, on another stack than those of the waiting threads. */
static void look_at_statics(struct xc_holder_search *s)
{
	for (size_t i = 0; i < s->open_count; i++) {
		const struct xc_wait *first = &s->locks->waits->items[s->open[i]->first];
		const char *function = first->has_place ? xc_wait_function(first) : NULL;
		if (s->open[i]->kind == XC_LOCK_ONCE && function && first->through &&
		    strstr(first->through, "cxa_guard_acquire") && !xc_holder_waits_for(s, s->open[i]) &&
		    has_function(s->place, function) && xc_holder_takes(s, i))
			s->open[i]->why = xc_arena_printf(&s->process->arena, "%s() is on its stack", function);
	}
}

/* ---- stacks ---- */

static void look_at_names(struct xc_holder_search *s)
{
	look_at_variables(s);
	look_at_call(s);
	look_at_statics(s);
}

static void look_at_thread(struct xc_holder_search *s)
{
	const struct xc_wait *wait = xc_holder_wait(s);
	struct xc_frame above;
	const char *stop;
	bool more = s->process->arch->unwinds && xc_unwind_first(s->unwinder, wait->thread, &s->frame);
	s->outward = wait->kind == XC_WAIT_NONE || wait->kind == XC_WAIT_CALL;
	for (unsigned n = 0; more && n < FRAMES; n++) {
		more = xc_unwind_step(s->unwinder, &s->frame, &above, &stop);
		s->above = more ? &above : NULL;
		s->place = xc_debuginfo_place(s->process, xc_frame_lookup(&s->frame));
		if (s->frame.trust != XC_TRUST_SCAN) {
			if (s->nameless) {
				xc_holder_look_nameless(s);
			} else {
				look_at_names(s);
			}
		}
		s->outward |= wait->has_place && s->frame.pc == wait->frame.pc;
		if (more)
			s->frame = above;
	}
	s->deeper |= more;
}

/* A handler waits for the call of the C library that its signal interrupted, as one that allocates does for
 * malloc(). */
static void look_at_handler(const struct xc_holder_search *s, struct xc_lock *lock)
{
	const struct xc_wait *wait = &s->locks->waits->items[lock->first];
	if (!wait->handler || !xc_wait_kind_same_lock(wait->through, wait->interrupted))
		return;
	lock->holder = lock->first;
	lock->why = xc_arena_printf(&s->process->arena, "the signal came in %s(), which takes it",
				    xc_wait_kind_plain(wait->interrupted));
}

static bool is_open(const struct xc_lock *lock)
{
	return lock->known && lock->holder == XC_LOCK_NOBODY && !lock->owner &&
	       (lock->held || lock->kind == XC_LOCK_ONCE) && (lock->ownerless || lock->readers);
}

/* Limits of the search that were reached. */
static void report_limits(const struct xc_holder_search *s, size_t wanted)
{
	struct xc_text text = {0};
	size_t threads = s->locks->waits->count;
	if (wanted > s->open_count)
		xc_text_printf(&text, ", for %zu of %zu locks", s->open_count, wanted);
	if (threads > THREADS)
		xc_text_printf(&text, ", in %d of %zu threads", THREADS, threads);
	if (s->deeper)
		xc_text_printf(&text, ", in the innermost %d frames of each stack", FRAMES);
	if (s->variables == XC_HOLDER_VARIABLES)
		xc_text_printf(&text, ", in the first %d variables", XC_HOLDER_VARIABLES);
	if (text.len)
		s->locks->limits = xc_arena_strdup(&s->process->arena, text.bytes + strlen(", "));
	xc_text_fini(&text);
}

/* Locks whose holder can be searched for. Returns their number, of which OPEN are kept. */
static size_t collect_open(struct xc_holder_search *s)
{
	size_t count = 0;
	for (size_t i = 0; i < s->locks->lock_count; i++) {
		struct xc_lock *lock = &s->locks->locks[i];
		if (!is_open(lock))
			continue;
		if (lock->kind == XC_LOCK_ARENA || lock->kind == XC_LOCK_LIBRARY)
			look_at_handler(s, lock);
		else if (++count <= OPEN)
			s->open[s->open_count++] = lock;
	}
	return count;
}

/* When several threads may hold it, none is named, except one of several readers. */
static void settle(const struct xc_holder_search *s, size_t number)
{
	struct xc_lock *lock = s->open[number];
	if (s->doubtful[number] && lock->readers < 2) {
		lock->holder = XC_LOCK_NOBODY;
		lock->why = NULL;
	} else if (lock->why && lock->readers > 1) {
		lock->why = xc_arena_printf(&s->process->arena, "one of its %u readers: %s", (unsigned)lock->readers,
					    lock->why);
	}
}

static void look_at_threads(struct xc_holder_search *s)
{
	for (s->thread = 0; s->thread < s->locks->waits->count && s->thread < THREADS; s->thread++)
		look_at_thread(s);
}

/* Leaves the locks that only a guard without a name, or a reference, can still tell the holder of. */
static void keep_nameless(struct xc_holder_search *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->open_count; i++) {
		settle(s, i);
		bool told = s->open[i]->holder != XC_LOCK_NOBODY || s->doubtful[i];
		if (!told)
			xc_holder_find_inside(s, i);
		if (told || (!xc_holder_may_be_nameless(s, s->open[i]) && !s->inside[i].from))
			continue;
		s->doubtful[kept] = false;
		s->inside[kept] = s->inside[i];
		s->open[kept++] = s->open[i];
	}
	s->open_count = kept;
	s->nameless = true;
	s->words = NAMELESS_WORDS;
}

void xc_lock_holder_guess(struct xc_process *process, struct xc_locks *l)
{
	struct xc_holder_search s = {.process = process, .locks = l};
	struct xc_arena bodies = {0};
	size_t wanted = collect_open(&s);
	if (!wanted)
		return;
	s.unwinder = xc_unwinder_new(process);
	s.bodies = xc_body_cache_new(process, &bodies);
	look_at_threads(&s);
	report_limits(&s, wanted);
	keep_nameless(&s);
	if (s.open_count)
		look_at_threads(&s);
	for (size_t i = 0; i < s.open_count; i++)
		settle(&s, i);
	xc_unwinder_free(s.unwinder);
	xc_arena_fini(&bodies);
}
