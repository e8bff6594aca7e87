/* property: a claim checked on random cases, from a fixed and printed seed.
 *
 *	PROPERTY(space_agrees_with_flat_array, 2000, 10000) { size_t len = rng_below(rng, 64); … }
 *
 * Case i uses the seed plus i. A failure prints that sum: XC_SEED=SUM XC_CASES=1 repeats the case. */
#ifndef XC_TEST_PROPERTY_H
#define XC_TEST_PROPERTY_H

#include "tests/support/check.h"
#include "tests/support/grid.h"

struct rng {
	uint64_t state, seed;
};

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline size_t rng_below(struct rng *rng, size_t limit)
{
	return limit ? (size_t)(rng_next(rng) % limit) : 0;
}

static inline void rng_fill(struct rng *rng, void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)bytes)[i] = (uint8_t)rng_next(rng);
}

#define PROPERTY_CHECK(rng_, condition)                                                                                \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail_msg("XC_SEED=%llu XC_CASES=1: %s", (unsigned long long)(rng_)->seed, #condition);         \
	} while (0)

static inline uint64_t property_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static inline void property_run(const char *name, uint64_t cases, void (*one)(struct rng *))
{
	uint64_t seed = property_env("XC_SEED", 20240601);
	cases = property_env("XC_CASES", cases);
	print_message("# %s: seed %llu, %llu cases\n", name, (unsigned long long)seed, (unsigned long long)cases);
	for (uint64_t i = 0; i < cases; i++) {
		struct rng rng = {.state = (seed + i) * UINT64_C(0xd1342543de82ef95), .seed = seed + i};
		one(&rng);
	}
}

/* The default number of cases, and the number with XC_GRID=all. */
#define PROPERTY(name, few, all)                                                                                       \
	static void name##_case(struct rng *rng);                                                                      \
	static void name(void **state)                                                                                 \
	{                                                                                                              \
		(void)state;                                                                                           \
		property_run(#name, grid_count((few), (all)), name##_case);                                            \
	}                                                                                                              \
	static void name##_case(struct rng *rng)

#endif
