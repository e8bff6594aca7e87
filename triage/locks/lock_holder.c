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

#include <dwarf.h>
#include <string.h>

#include "dwarf/stack/variable.h"
#include "triage/code/body_cache.h"
#include "triage/code/rust_lock.h"
#include "triage/code/rust_release.h"
#include "triage/waits/frame_words.h"
#include "triage/locks/guard.h"
#include "triage/waits/wait_kind.h"

enum {
	OPEN = 64,
	THREADS = 4096,
	FRAMES = 48,
	VARIABLES = 1 << 19,
	WORDS = 64,
	GUARD_WORDS = 512,
	NAMELESS_WORDS = 1 << 22
};

/* The locks to search for, and the current frame. */
struct search {
	struct xc_process *process;
	struct xc_locks *locks;
	struct xc_lock *open[OPEN];
	bool doubtful[OPEN]; /* several threads may hold it */
	struct inside {
		xc_addr from, end; /* what a lock of Rust protects; 0: not known */
	} inside[OPEN];
	size_t open_count;
	struct xc_unwinder *unwinder;
	struct xc_body_cache *bodies;
	size_t variables; /* variables whose types were checked */
	bool deeper;      /* a stack is deeper than FRAMES */
	size_t thread;    /* the current one */
	struct xc_frame frame;
	const struct xc_frame *above; /* its caller; NULL: not known */
	const struct xc_place *place;
	bool outward;  /* outside of the frame that waits */
	bool nameless; /* the second pass, for guards without a name, and references into what is protected */
	size_t words;  /* that it may still read */
};

/* Take the current thread for the holder, as far as is known. When true, the caller sets the reason. */
static bool takes(struct search *s, size_t number)
{
	struct xc_lock *lock = s->open[number];
	if (lock->holder == s->thread)
		return false;
	if (lock->holder != XC_LOCK_NOBODY) {
		s->doubtful[number] = true;
		return false;
	}
	lock->holder = s->thread;
	return true;
}

static const struct xc_wait *wait_of(const struct search *s)
{
	return &s->locks->waits->items[s->thread];
}

static bool waits_for(const struct search *s, const struct xc_lock *lock)
{
	size_t index = s->locks->lock_of[s->thread];
	return index != XC_LOCK_NOBODY && &s->locks->locks[index] == lock;
}

/* ---- guards ---- */

static bool wants(void *user, const struct xc_type *type)
{
	struct search *s = user;
	bool owns;
	if (s->variables == VARIABLES)
		return false;
	s->variables++;
	return xc_guard_is(xc_type_strip(type), &owns);
}

/* A guard of a reader in a thread that waits to write, or the other way round, already exists. */
static bool is_other_mode(const struct search *s, const struct xc_type *type)
{
	enum xc_wait_kind kind = wait_of(s)->kind;
	return xc_guard_is_to_read(type) ? kind == XC_WAIT_WRITE_LOCK || kind == XC_WAIT_RUST_WRITE
					 : kind == XC_WAIT_READ_LOCK || kind == XC_WAIT_RUST_READ;
}

static const struct xc_body *body_here(const struct search *s)
{
	return xc_body_cache_get(s->bodies, xc_frame_lookup(&s->frame));
}

static bool gave_back(const struct search *s, const struct xc_lock *lock)
{
	return xc_rust_release(body_here(s), &s->frame, lock->addr) == XC_RUST_RELEASE_PAST;
}

/* Was the guard dropped? Its word remains. */
static bool is_over(const struct search *s, const struct xc_value *guard, const struct xc_lock *lock)
{
	return gave_back(s, lock) ||
	       (guard->kind == XC_VALUE_MEMORY &&
		xc_rust_release_is_done(body_here(s), &s->frame, guard->addr, guard->addr + xc_value_size(guard)));
}

static void look_at_guard(struct search *s, const struct xc_named_value *variable, size_t level)
{
	const struct xc_type *type = xc_type_strip(variable->value.type);
	bool owns;
	if (!xc_guard_is(type, &owns))
		return;
	for (size_t i = 0; i < s->open_count; i++)
		if ((s->open[i]->kind == XC_LOCK_MUTEX || s->open[i]->kind == XC_LOCK_RWLOCK) &&
		    (s->outward || !waits_for(s, s->open[i]) || is_other_mode(s, type)) &&
		    xc_guard_has(&variable->value, s->open[i]->addr, owns) &&
		    !is_over(s, &variable->value, s->open[i]) && takes(s, i))
			s->open[i]->why = xc_guard_describe(s->place, level, variable,
							    s->open[i]->kind == XC_LOCK_RWLOCK, &s->process->arena);
}

static void look_at_variables(struct search *s)
{
	struct xc_frame_context context = {.process = s->process,
					   .thread = wait_of(s)->thread,
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

static bool is_rust_mutex(const struct search *s, const struct xc_lock *lock)
{
	return lock->kind == XC_LOCK_MUTEX && s->locks->waits->items[lock->first].kind == XC_WAIT_RUST_MUTEX;
}

static bool may_be_nameless(const struct search *s, const struct xc_lock *lock)
{
	return (lock->kind == XC_LOCK_RWLOCK && lock->readers) || xc_wait_is_rust(&s->locks->waits->items[lock->first]);
}

/* A guard of a mutex is the lock, and a byte that says whether the thread panicked. Who waits for a mutex has its
 * address on the whole of its stack. */
static bool is_nameless(const struct search *s, const struct xc_lock *lock, uint64_t one, uint64_t other)
{
	if (is_rust_mutex(s, lock))
		return one == lock->addr && (other & 0xff) <= 1 && !waits_for(s, lock) &&
		       xc_rust_lock_drops(s->process, s->frame.pc);
	return lock->kind == XC_LOCK_RWLOCK && lock->readers && xc_guard_reads(lock->addr, one, other) &&
	       (s->outward || !waits_for(s, lock));
}

/* Registers have no word beside them: 0 is as good as any. */
static void look_at_registers(struct search *s)
{
	struct xc_frame_words words = xc_frame_words(s->process, &s->frame, 1, NULL, 0);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		for (size_t i = 0; i < s->open_count; i++)
			if (is_rust_mutex(s, s->open[i]) && is_nameless(s, s->open[i], value, 0) &&
			    !gave_back(s, s->open[i]) && takes(s, i))
				s->open[i]->why = "an apparent guard of it is in a register, without a name";
}

/* Is `one`, at `slot`, in a guard? A function that drops it in place tells that, too; others may hold a copy of it. */
static bool is_temporary(const struct search *s, const struct xc_lock *lock, uint64_t one, uint64_t other, xc_addr slot)
{
	if (one != lock->addr && !is_nameless(s, lock, one, other))
		return false;
	switch (xc_rust_release_of_guard(body_here(s), &s->frame, slot, slot + 2 * sizeof one)) {
	case XC_RUST_RELEASE_PAST:
		return false;
	case XC_RUST_RELEASE_FOLLOWS:
		return s->outward || !waits_for(s, lock);
	default:
		return is_nameless(s, lock, one, other) && !gave_back(s, lock);
	}
}

static void look_at_temporaries(struct search *s)
{
	struct xc_frame_words words = xc_frame_words(s->process, &s->frame, 0, s->above, GUARD_WORDS);
	uint64_t before = 0, value;
	if (xc_place_language(s->place, 0) != DW_LANG_Rust)
		return;
	look_at_registers(s);
	for (; s->words && xc_frame_words_next(&words, &value); s->words--, before = value)
		for (size_t i = 0; i < s->open_count; i++)
			if (is_temporary(s, s->open[i], before, value, words.at - 2 * sizeof value) && takes(s, i))
				s->open[i]->why = "an apparent guard of it is in its stack, without a name";
}

/* ---- what a lock of Rust protects ---- */

static bool is_pointer(void *user, const struct xc_type *type)
{
	struct search *s = user;
	if (s->variables == VARIABLES)
		return false;
	s->variables++;
	return xc_type_is_pointer(type);
}

/* Each argument of the frame that is a pointer, as a value and as a number. */
typedef void pointer_fn(struct search *s, size_t number, const struct xc_value *pointer, uint64_t target,
			const char *name);

static void each_pointer(struct search *s, const struct xc_wait *wait, size_t number, pointer_fn *look)
{
	struct xc_frame_context context = {.process = s->process,
					   .thread = wait->thread,
					   .unwinder = s->unwinder,
					   .frame = &s->frame,
					   .place = s->place};
	struct xc_arena scratch = {0};
	for (size_t level = 0; level < s->place->level_count; level++) {
		struct xc_named_value *values;
		uint64_t target;
		size_t count = xc_variable_values_of(&context, level, false, is_pointer, s, &scratch, &values);
		for (size_t i = 0; i < count; i++)
			if (xc_value_load(&values[i].value, &target))
				look(s, number, &values[i].value, target, values[i].name);
	}
	xc_arena_fini(&scratch);
}

/* Its member `data`, by the type of a pointer to the lock. */
static void learn_inside(struct search *s, size_t number, const struct xc_value *pointer, uint64_t target,
			 const char *name)
{
	struct inside *inside = &s->inside[number];
	const struct xc_type *type = xc_type_complete(xc_type_strip(xc_type_strip(pointer->type)->target));
	uint64_t size;
	size_t count;
	(void)name;
	if (target != s->open[number]->addr || inside->from || !xc_rust_lock_is(type))
		return;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++)
		if (members[i].name && strcmp(members[i].name, "data") == 0 && xc_type_size(members[i].type, &size) &&
		    size && target + members[i].offset + size > target)
			*inside = (struct inside){target + members[i].offset, target + members[i].offset + size};
}

/* On the stack of one that waits for it. */
static void find_inside(struct search *s, size_t number)
{
	const struct xc_wait *wait = &s->locks->waits->items[s->open[number]->first];
	const char *stop;
	s->inside[number] = (struct inside){.from = 0};
	if (!xc_wait_is_rust(wait))
		return;
	bool more = s->process->arch->unwinds && xc_unwind_first(s->unwinder, wait->thread, &s->frame);
	for (unsigned n = 0; more && n < FRAMES && !s->inside[number].from; n++) {
		s->place = xc_debuginfo_place(s->process, xc_frame_lookup(&s->frame));
		each_pointer(s, wait, number, learn_inside);
		more = s->frame.pc != wait->frame.pc && xc_unwind_step(s->unwinder, &s->frame, &s->frame, &stop);
	}
}

static void take_inside(struct search *s, size_t number, const struct xc_value *pointer, uint64_t target,
			const char *name)
{
	const struct inside *inside = &s->inside[number];
	(void)pointer;
	if (target >= inside->from && target < inside->end && takes(s, number))
		s->open[number]->why = xc_arena_printf(&s->process->arena,
						       "`%s` on its stack is a reference to what it protects", name);
}

static void look_inside(struct search *s)
{
	for (size_t i = 0; i < s->open_count; i++)
		if (s->inside[i].from && !waits_for(s, s->open[i]))
			each_pointer(s, wait_of(s), i, take_inside);
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
static bool has_word(const struct search *s, xc_addr addr)
{
	struct xc_frame_words words = xc_frame_words(s->process, &s->frame, 1, s->above, WORDS);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		if (value == addr)
			return true;
	return false;
}

static void look_at_call(struct search *s)
{
	bool once = s->outward && calls_once(s->place);
	for (size_t i = 0; once && i < s->open_count; i++)
		if (s->open[i]->kind == XC_LOCK_ONCE && has_word(s, s->open[i]->addr) && takes(s, i))
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
static void look_at_statics(struct search *s)
{
	for (size_t i = 0; i < s->open_count; i++) {
		const struct xc_wait *first = &s->locks->waits->items[s->open[i]->first];
		const char *function = first->has_place ? xc_wait_function(first) : NULL;
		if (s->open[i]->kind == XC_LOCK_ONCE && function && first->through &&
		    strstr(first->through, "cxa_guard_acquire") && !waits_for(s, s->open[i]) &&
		    has_function(s->place, function) && takes(s, i))
			s->open[i]->why = xc_arena_printf(&s->process->arena, "%s() is on its stack", function);
	}
}

/* ---- stacks ---- */

static void look_at_names(struct search *s)
{
	look_at_variables(s);
	look_at_call(s);
	look_at_statics(s);
}

static void look_at_thread(struct search *s)
{
	const struct xc_wait *wait = wait_of(s);
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
				look_inside(s);
				look_at_temporaries(s);
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
static void look_at_handler(const struct search *s, struct xc_lock *lock)
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
static void report_limits(const struct search *s, size_t wanted)
{
	struct xc_text text = {0};
	size_t threads = s->locks->waits->count;
	if (wanted > s->open_count)
		xc_text_printf(&text, ", for %zu of %zu locks", s->open_count, wanted);
	if (threads > THREADS)
		xc_text_printf(&text, ", in %d of %zu threads", THREADS, threads);
	if (s->deeper)
		xc_text_printf(&text, ", in the innermost %d frames of each stack", FRAMES);
	if (s->variables == VARIABLES)
		xc_text_printf(&text, ", in the first %d variables", VARIABLES);
	if (text.len)
		s->locks->limits = xc_arena_strdup(&s->process->arena, text.bytes + strlen(", "));
	xc_text_fini(&text);
}

/* Locks whose holder can be searched for. Returns their number, of which OPEN are kept. */
static size_t collect_open(struct search *s)
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
static void settle(const struct search *s, size_t number)
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

static void look_at_threads(struct search *s)
{
	for (s->thread = 0; s->thread < s->locks->waits->count && s->thread < THREADS; s->thread++)
		look_at_thread(s);
}

/* Leaves the locks that only a guard without a name, or a reference, can still tell the holder of. */
static void keep_nameless(struct search *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->open_count; i++) {
		settle(s, i);
		bool told = s->open[i]->holder != XC_LOCK_NOBODY || s->doubtful[i];
		if (!told)
			find_inside(s, i);
		if (told || (!may_be_nameless(s, s->open[i]) && !s->inside[i].from))
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
	struct search s = {.process = process, .locks = l};
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
