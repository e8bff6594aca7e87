/* lock_holder: see lock_holder.h.
 *
 * A guard (MutexGuard, std::shared_lock) is a variable that contains the lock's address while the lock is held.
 * After an early release the address may remain, so a holder found by it is only likely. In the innermost function
 * of a thread that waits for the lock, the guard is likely the one that is not constructed yet. pthread_once and
 * similar functions keep the address of the control word in their frame while they run the initializer. A static
 * variable of C++ leaves only its function on the stack. */
#include "triage/locks/lock_holder.h"

#include <string.h>

#include "dwarf/stack/variable.h"
#include "triage/locks/frame_words.h"
#include "triage/locks/wait_kind.h"

enum { OPEN = 64, THREADS = 4096, FRAMES = 48, VARIABLES = 1 << 19, GUARD = 32, WORDS = 64 };

/* The locks to search for, and the current frame. */
struct search {
	struct xc_process *process;
	struct xc_locks *locks;
	struct xc_lock *open[OPEN];
	bool doubtful[OPEN]; /* several threads may hold it */
	size_t open_count;
	struct xc_unwinder *unwinder;
	size_t variables; /* variables whose types were checked */
	bool deeper;      /* a stack is deeper than FRAMES */
	size_t thread;    /* the current one */
	struct xc_frame frame;
	const struct xc_frame *above; /* its caller; NULL: not known */
	const struct xc_place *place;
	bool outward; /* outside of the frame that waits */
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

static bool has_part(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

static bool is_guard(const struct xc_type *type, bool *owns_out)
{
	static const char *const rust[] = {"MutexGuard<", "RwLockReadGuard<", "RwLockWriteGuard<", NULL};
	static const char *const cxx[] = {"shared_lock<", "unique_lock<", NULL};
	const char *name = type->name ? type->name : "";
	*owns_out = has_part(name, cxx);
	return *owns_out || has_part(name, rust);
}

static bool wants(void *user, const struct xc_type *type)
{
	struct search *s = user;
	bool owns;
	if (s->variables == VARIABLES)
		return false;
	s->variables++;
	return is_guard(xc_type_strip(type), &owns);
}

/* A guard of a reader in a thread that waits to write, or the other way round, already exists. */
static bool is_other_mode(const struct search *s, const struct xc_type *type)
{
	bool reads = strstr(type->name, "ReadGuard<") || strstr(type->name, "shared_lock<");
	enum xc_wait_kind kind = wait_of(s)->kind;
	return reads ? kind == XC_WAIT_WRITE_LOCK || kind == XC_WAIT_RUST_WRITE
		     : kind == XC_WAIT_READ_LOCK || kind == XC_WAIT_RUST_READ;
}

/* Does the guard contain the lock? C++ guards have a flag after the pointer that says whether they own it. */
static bool guards(const struct search *s, const struct xc_value *value, const struct xc_lock *lock, bool owns)
{
	unsigned word = s->process->arch->word;
	uint64_t size = xc_value_size(value), pointer = 0;
	uint8_t owned = 0;
	for (uint64_t at = 0; at + word <= size && at < GUARD; at += word)
		if (xc_value_peek(value, at, &pointer, word) && pointer == lock->addr)
			return !owns || (xc_value_peek(value, word, &owned, 1) && owned == 1);
	return false;
}

static void look_at_guard(struct search *s, const struct xc_named_value *variable)
{
	const struct xc_type *type = xc_type_strip(variable->value.type);
	bool owns;
	if (!is_guard(type, &owns))
		return;
	for (size_t i = 0; i < s->open_count; i++)
		if ((s->open[i]->kind == XC_LOCK_MUTEX || s->open[i]->kind == XC_LOCK_RWLOCK) &&
		    (s->outward || !waits_for(s, s->open[i]) || is_other_mode(s, type)) &&
		    guards(s, &variable->value, s->open[i], owns) && takes(s, i))
			s->open[i]->why = xc_arena_printf(&s->process->arena, "its variable `%s` is a guard of it",
							  variable->name);
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
				look_at_guard(s, &values[i]);
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
			look_at_variables(s);
			look_at_call(s);
			look_at_statics(s);
		}
		s->outward |= wait->has_place && s->frame.pc == wait->frame.pc;
		if (more)
			s->frame = above;
	}
	s->deeper |= more;
}

/* A handler that allocates waits for the call of malloc that its signal interrupted. */
static void look_at_handler(const struct search *s, struct xc_lock *lock)
{
	const struct xc_wait *wait = &s->locks->waits->items[lock->first];
	if (!wait->handler || !xc_wait_kind_allocates(wait->through) || !xc_wait_kind_allocates(wait->interrupted))
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
		if (lock->kind == XC_LOCK_ARENA)
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

void xc_lock_holder_guess(struct xc_process *process, struct xc_locks *l)
{
	struct search s = {.process = process, .locks = l};
	size_t wanted = collect_open(&s);
	if (!wanted)
		return;
	s.unwinder = xc_unwinder_new(process);
	for (s.thread = 0; s.thread < l->waits->count && s.thread < THREADS; s.thread++)
		look_at_thread(&s);
	for (size_t i = 0; i < s.open_count; i++)
		settle(&s, i);
	report_limits(&s, wanted);
	xc_unwinder_free(s.unwinder);
}
