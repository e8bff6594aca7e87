/* lock_holder_rust: who holds a lock of Rust when no variable is its guard. A guard of a temporary has no name; one
 * that is dropped where it was made has no place either. */
#include "triage/locks/lock_holder_impl.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/stack/variable.h"
#include "triage/code/rust_lock.h"
#include "triage/locks/guard.h"
#include "triage/waits/frame_words.h"

enum { GUARD_WORDS = 512 };

static bool is_rust_mutex(const struct xc_holder_search *s, const struct xc_lock *lock)
{
	return lock->kind == XC_LOCK_MUTEX && s->locks->waits->items[lock->first].kind == XC_WAIT_RUST_MUTEX;
}

bool xc_holder_may_be_nameless(const struct xc_holder_search *s, const struct xc_lock *lock)
{
	return (lock->kind == XC_LOCK_RWLOCK && lock->readers) || xc_wait_is_rust(&s->locks->waits->items[lock->first]);
}

/* A guard of a mutex is the lock, and a byte that says whether the thread panicked. Who waits for a mutex has its
 * address on the whole of its stack. */
static bool is_nameless(const struct xc_holder_search *s, const struct xc_lock *lock, uint64_t one, uint64_t other)
{
	if (is_rust_mutex(s, lock))
		return one == lock->addr && (other & 0xff) <= 1 && !xc_holder_waits_for(s, lock) &&
		       xc_rust_lock_drops(s->process, s->frame.pc);
	return lock->kind == XC_LOCK_RWLOCK && lock->readers && xc_guard_reads(lock->addr, one, other) &&
	       (s->outward || !xc_holder_waits_for(s, lock));
}

/* Registers have no word beside them: 0 is as good as any. */
static void look_at_registers(struct xc_holder_search *s)
{
	struct xc_frame_words words = xc_frame_words(s->process, &s->frame, 1, NULL, 0);
	uint64_t value;
	while (xc_frame_words_next(&words, &value))
		for (size_t i = 0; i < s->open_count; i++)
			if (is_rust_mutex(s, s->open[i]) && is_nameless(s, s->open[i], value, 0) &&
			    !xc_holder_gave_back(s, s->open[i]) && xc_holder_takes(s, i))
				s->open[i]->why = "an apparent guard of it is in a register, without a name";
}

/* Is `one`, at `slot`, in a guard? A function that drops it in place tells that, too; others may hold a copy of it. */
static bool is_temporary(const struct xc_holder_search *s, const struct xc_lock *lock, uint64_t one, uint64_t other,
			 xc_addr slot)
{
	if (one != lock->addr && !is_nameless(s, lock, one, other))
		return false;
	switch (xc_rust_release_of_guard(xc_holder_body(s), &s->frame, slot, slot + 2 * sizeof one)) {
	case XC_RUST_RELEASE_PAST:
		return false;
	case XC_RUST_RELEASE_FOLLOWS:
		return s->outward || !xc_holder_waits_for(s, lock);
	default:
		return is_nameless(s, lock, one, other) && !xc_holder_gave_back(s, lock);
	}
}

static void look_at_temporaries(struct xc_holder_search *s)
{
	struct xc_frame_words words = xc_frame_words(s->process, &s->frame, 0, s->above, GUARD_WORDS);
	uint64_t before = 0, value;
	if (xc_place_language(s->place, 0) != DW_LANG_Rust)
		return;
	look_at_registers(s);
	for (; s->words && xc_frame_words_next(&words, &value); s->words--, before = value)
		for (size_t i = 0; i < s->open_count; i++)
			if (is_temporary(s, s->open[i], before, value, words.at - 2 * sizeof value) &&
			    xc_holder_takes(s, i))
				s->open[i]->why = "an apparent guard of it is in its stack, without a name";
}

/* The guard need not be anywhere, when its address is that of an object that the function has: then the code tells
 * that the function that waits has taken the lock before. Those that come back to code that gives it back:
 * release_holder. */
static void look_at_code(struct xc_holder_search *s)
{
	const struct xc_wait *wait = xc_holder_wait(s);
	if (!wait->has_place || s->frame.pc != wait->frame.pc || xc_place_language(s->place, 0) != DW_LANG_Rust)
		return;
	for (size_t i = 0; i < s->open_count; i++)
		if (is_rust_mutex(s, s->open[i]) && xc_holder_waits_for(s, s->open[i]) &&
		    xc_rust_release_took(xc_holder_body(s), &s->frame, s->open[i]->addr) && xc_holder_takes(s, i))
			s->open[i]->why = "its function has taken it before, and not given it back";
}

/* ---- what a lock of Rust protects ---- */

static bool is_pointer(void *user, const struct xc_type *type)
{
	struct xc_holder_search *s = user;
	if (s->variables == XC_HOLDER_VARIABLES)
		return false;
	s->variables++;
	return xc_type_is_pointer(type);
}

/* Each argument of the frame that is a pointer, as a value and as a number. */
typedef void pointer_fn(struct xc_holder_search *s, size_t number, const struct xc_value *pointer, uint64_t target,
			const char *name);

static void each_pointer(struct xc_holder_search *s, const struct xc_wait *wait, size_t number, pointer_fn *look)
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
static void learn_inside(struct xc_holder_search *s, size_t number, const struct xc_value *pointer, uint64_t target,
			 const char *name)
{
	struct xc_holder_inside *inside = &s->inside[number];
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
			*inside = (struct xc_holder_inside){target + members[i].offset,
							    target + members[i].offset + size};
}

/* On the stack of one that waits for it. */
void xc_holder_find_inside(struct xc_holder_search *s, size_t number)
{
	const struct xc_wait *wait = &s->locks->waits->items[s->open[number]->first];
	const char *stop;
	s->inside[number] = (struct xc_holder_inside){.from = 0};
	if (!xc_wait_is_rust(wait))
		return;
	bool more = s->process->arch->unwinds && xc_unwind_first(s->unwinder, wait->thread, &s->frame);
	for (unsigned n = 0; more && n < XC_HOLDER_FRAMES && !s->inside[number].from; n++) {
		s->place = xc_debuginfo_place(s->process, xc_frame_lookup(&s->frame));
		each_pointer(s, wait, number, learn_inside);
		more = s->frame.pc != wait->frame.pc && xc_unwind_step(s->unwinder, &s->frame, &s->frame, &stop);
	}
}

static void take_inside(struct xc_holder_search *s, size_t number, const struct xc_value *pointer, uint64_t target,
			const char *name)
{
	const struct xc_holder_inside *inside = &s->inside[number];
	(void)pointer;
	if (target >= inside->from && target < inside->end && xc_holder_takes(s, number))
		s->open[number]->why = xc_arena_printf(&s->process->arena,
						       "`%s` on its stack is a reference to what it protects", name);
}

static void look_inside(struct xc_holder_search *s)
{
	for (size_t i = 0; i < s->open_count; i++)
		if (s->inside[i].from && !xc_holder_waits_for(s, s->open[i]))
			each_pointer(s, xc_holder_wait(s), i, take_inside);
}

void xc_holder_look_nameless(struct xc_holder_search *s)
{
	look_inside(s);
	look_at_temporaries(s);
	look_at_code(s);
}
