/* guard: see guard.h. */
#include "triage/locks/guard.h"

#include <string.h>

#include "triage/util/sourceline.h"

enum { GUARD = 32, PROTECTED = 64 };

static bool has_part(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

bool xc_guard_is(const struct xc_type *type, bool *owns_out)
{
	static const char *const rust[] = {"MutexGuard<", "RwLockReadGuard<", "RwLockWriteGuard<", NULL};
	static const char *const cxx[] = {"shared_lock<", "unique_lock<", NULL};
	const char *name = type->name ? type->name : "";
	*owns_out = has_part(name, cxx);
	return *owns_out || has_part(name, rust);
}

bool xc_guard_has(const struct xc_value *guard, xc_addr lock, bool owns)
{
	unsigned word = guard->process->arch->word;
	uint64_t size = xc_value_size(guard), pointer = 0;
	uint8_t owned = 0;
	for (uint64_t at = 0; at + word <= size && at < GUARD; at += word)
		if (xc_value_peek(guard, at, &pointer, word) && pointer == lock)
			return !owns || (xc_value_peek(guard, word, &owned, 1) && owned == 1);
	return false;
}

bool xc_guard_reads(xc_addr lock, uint64_t one, uint64_t other)
{
	uint64_t protected = one == lock ? other : other == lock ? one : 0;
	return protected > lock && protected - lock <= PROTECTED;
}

bool xc_guard_is_to_read(const struct xc_type *guard)
{
	return strstr(guard->name, "ReadGuard<") || strstr(guard->name, "shared_lock<");
}

const char *xc_guard_describe(const struct xc_place *place, size_t level, const struct xc_named_value *variable,
			      bool shared, struct xc_arena *arena)
{
	const char *function = xc_place_function(place, level);
	struct xc_text text = {0};
	xc_text_printf(&text, "its variable `%s`", variable->name);
	if (function) {
		xc_text_printf(&text, " in %s", function);
		if (xc_sourceline(place, level, " (", &text))
			xc_text_add(&text, ")");
	}
	xc_text_add(&text, " is a guard of it");
	if (shared)
		xc_text_add(&text,
			    xc_guard_is_to_read(xc_type_strip(variable->value.type)) ? ", to read" : ", to write");
	const char *words = xc_arena_strdup(arena, xc_text_string(&text));
	xc_text_fini(&text);
	return words;
}
