/* guard: variables that hold a lock while they live: MutexGuard, std::shared_lock. */
#ifndef XC_GUARD_H
#define XC_GUARD_H

#include "dwarf/stack/variable.h"

/* Is it the type of guards? C++ guards have a flag after the pointer that says whether they own the lock: *owns_out. */
bool xc_guard_is(const struct xc_type *type, bool *owns_out);

/* Does the guard contain the lock, and, where it `owns`, own it? */
bool xc_guard_has(const struct xc_value *guard, xc_addr lock, bool owns);

/* Are the two words, side by side, those of a guard of a reader of Rust that has no name, as of the value that is
 * matched: the lock and what it protects, which follows it in the same object? */
bool xc_guard_reads(xc_addr lock, uint64_t one, uint64_t other);

/* Is it the guard of a reader? */
bool xc_guard_is_to_read(const struct xc_type *guard);

/* "its variable `r` in total (shop.cpp:24) is a guard of it", and for a lock that readers share ", to read" or ", to
 * write"; in the arena. */
const char *xc_guard_describe(const struct xc_place *place, size_t level, const struct xc_named_value *variable,
			      bool shared, struct xc_arena *arena);

#endif
