/* What the programs share: one table of deaths, and keeping the optimiser in the dark.
 *
 * A program of this folder takes the name of one of its deaths, and dies so. The line that dies carries a comment
 * "dies: NAME…"; build-deaths reads it, so that nobody counts lines. */
#ifndef DEATH_H
#define DEATH_H

#include <stddef.h>
#include <string.h>

/* A function as the source has it: not inlined, and not one whose loads the optimiser moves into its callers, as it may with
 * those that it knows all calls of. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline, used))
#else
#define NOINLINE __attribute__((noinline, noclone, used))
#endif

/* The optimiser must believe that the bytes of x are read here. */
#define KEEP(x) ({ __asm__ volatile("" : : "m"(x) : "memory"); })

/* The same pointer, of which the optimiser no longer knows where it points; memory may have changed. */
static inline void *opaque(const volatile void *pointer)
{
	void *out = (void *)(size_t)pointer;
	__asm__ volatile("" : "+r"(out) : : "memory");
	return out;
}

static inline __attribute__((unused)) long opaque_long(long value)
{
	__asm__ volatile("" : "+r"(value) : : "memory");
	return value;
}

struct death {
	const char *name;
	void (*die)(void);
};

/* The program: runs the death that its argument names; 2 when there is none of that name, or nobody died. */
#define DEATHS(...)                                                                                                    \
	int main(int argc, char **argv)                                                                                \
	{                                                                                                              \
		static const struct death deaths[] = {__VA_ARGS__};                                                    \
		size_t count = argc == 2 ? sizeof deaths / sizeof deaths[0] : 0;                                       \
		for (size_t death = 0; death < count; death++)                                                         \
			if (strcmp(argv[1], deaths[death].name) == 0)                                                  \
				deaths[death].die();                                                                   \
		return 2;                                                                                              \
	}

#endif
