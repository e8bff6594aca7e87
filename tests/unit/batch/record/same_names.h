/* same_names: functions with the names that compilers write for them. */
#ifndef XC_TEST_SAME_NAMES_H
#define XC_TEST_SAME_NAMES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/demangle.h"

enum { SPELLINGS = 6 };

/* A function and its normalised name. */
struct function {
	const char *name;
	const char *spellings[SPELLINGS];
};

typedef const char *normalise_fn(const char *name, struct xc_arena *arena);

/* As in records: demangled, if the name was mangled. */
static inline const char *name_of(normalise_fn *normalise, const char *spelling, struct xc_arena *arena)
{
	xc_auto(xc_freep) char *demangled = xc_demangle(spelling, true);
	return normalise(demangled ? demangled : spelling, arena);
}

static inline void expect_one(normalise_fn *normalise, const struct function *function, struct xc_arena *arena)
{
	for (size_t i = 0; i < SPELLINGS && function->spellings[i]; i++) {
		const char *got = name_of(normalise, function->spellings[i], arena);
		if (strcmp(got, function->name) != 0)
			fail_msg("%s\n became %s\n  wanted %s", function->spellings[i], got, function->name);
	}
	if (strcmp(normalise(function->name, arena), function->name) != 0)
		fail_msg("%s, when done again, is %s", function->name, normalise(function->name, arena));
}

static inline int by_name(const void *a, const void *b)
{
	const struct function *left = a, *right = b;
	return strcmp(left->name, right->name);
}

static inline void expect(normalise_fn *normalise, const struct function *functions, size_t count)
{
	struct xc_arena arena = {0};
	struct function *sorted = xc_arena_alloc(&arena, count * sizeof *sorted);
	memcpy(sorted, functions, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_name);
	for (size_t i = 0; i < count; i++) {
		expect_one(normalise, &sorted[i], &arena);
		if (i && !strcmp(sorted[i - 1].name, sorted[i].name))
			fail_msg("%s stands for two functions", sorted[i].name);
	}
	xc_arena_fini(&arena);
}

#endif
