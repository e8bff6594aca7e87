/* layer: batch */
/* The distance of traces: vectors computed with CASR's formula, and plain dynamic programming as oracle. */
#include <math.h>
#include <stdio.h>

#include "batch/cluster/distance.h"
#include "tests/support/property.h"

enum { FRAMES = 40, LIMIT = XC_DISTANCE_ONE / 10 * 3 };

struct made {
	uint32_t frames[XC_TRACE_MAX];
	struct xc_trace trace;
};

/* One letter per frame. */
static void make(struct made *m, const char *letters)
{
	m->trace = (struct xc_trace){.frames = m->frames, .count = strlen(letters)};
	for (size_t i = 0; i < m->trace.count; i++)
		m->frames[i] = letters[i] == '?' ? 0 : (uint32_t)(letters[i] & 31);
}

static double measured(const struct xc_trace *one, const struct xc_trace *other)
{
	struct xc_probe *probe = xc_probe_new(FRAMES, XC_DISTANCE_ONE), *limited = xc_probe_new(FRAMES, LIMIT);
	xc_probe_set(probe, one);
	xc_probe_set(limited, one);
	uint32_t d = xc_probe_distance(probe, other), quick = xc_probe_distance(limited, other);
	assert_true(quick == d || (d >= LIMIT && quick == XC_DISTANCE_ONE));
	xc_probe_free(limited);
	xc_probe_set(probe, other);
	assert_int_equal(d, xc_probe_distance(probe, one));
	xc_probe_free(probe);
	return (double)d / XC_DISTANCE_ONE;
}

static void it_gives_the_known_vectors(void **state)
{
	static const struct {
		const char *one, *other;
		double distance;
	} vectors[] = {
		{"abcdefgh", "abcdefgh", 0},
		{"abcdefgh", "xbcdefgh", 0.143},
		{"abc", "xbc", 0.347},
		{"abcdefgh", "abcdefgx", 0.108},
		{"abcdefgh", "xabcdefgh", 0.122},
		{"abcdefgh", "xyabcdefgh", 0.229},
		{"abcdefgh", "xyzabcdefgh", 0.323},
		{"abcde", "xycde", 0.424},
		{"", "", 1},
		{"a", "", 1},
		{"????", "????", 1},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(vectors); i++) {
		struct made one, other;
		make(&one, vectors[i].one);
		make(&other, vectors[i].other);
		double d = measured(&one.trace, &other.trace);
		if (fabs(d - vectors[i].distance) > 0.0006)
			fail_msg("%s, %s: %f", vectors[i].one, vectors[i].other, d);
	}
}

static void two_swapped_frames_are_a_small_step(void **state)
{
	struct made one, other;
	double least = 1;
	(void)state;
	make(&one, "abcdefgh");
	for (size_t i = 0; i < 7; i++) {
		char letters[] = "abcdefgh", c = letters[i];
		letters[i] = letters[i + 1];
		letters[i + 1] = c;
		make(&other, letters);
		double d = measured(&one.trace, &other.trace);
		least = fabs(d - 0.155) < least ? fabs(d - 0.155) : least;
	}
	assert_true(least < 0.0006);
}

/* CASR's own would be 0 for all of these. */
static void a_short_trace_is_not_like_all_that_begin_with_it(void **state)
{
	struct made one, other;
	(void)state;
	make(&one, "a");
	make(&other, "abcdefgh");
	assert_true(measured(&one.trace, &other.trace) > 0.8);
	make(&one, "ab");
	make(&other, "abc");
	assert_true(measured(&one.trace, &other.trace) > 0.3);
	make(&one, "abc");
	make(&other, "abcd");
	assert_true(measured(&one.trace, &other.trace) < 0.3);
}

/* ---- the oracle ---- */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double programmed(const struct xc_trace *a, const struct xc_trace *b)
{
	double best[XC_TRACE_MAX + 1][XC_TRACE_MAX + 1] = {{0}}, whole = 0;
	for (size_t i = 1; i <= a->count; i++)
		for (size_t j = 1; j <= b->count; j++) {
			double least = i < j ? (double)i : (double)j, apart = fabs((double)i - (double)j);
			bool equal = a->frames[i - 1] && a->frames[i - 1] == b->frames[j - 1];
			double c = equal ? exp(-0.04 * least - 0.13 * apart) : 0;
			best[i][j] = larger(larger(best[i - 1][j], best[i][j - 1]), best[i - 1][j - 1] + c);
		}
	size_t shorter = a->count < b->count ? a->count : b->count;
	for (size_t i = 1; i <= (shorter < 4 ? a->count + b->count - shorter : shorter); i++)
		whole += exp(-0.04 * (double)i);
	return whole > 0 ? 1 - best[a->count][b->count] / whole : 1;
}

static void make_random(struct rng *rng, struct made *m, size_t names)
{
	m->trace = (struct xc_trace){.frames = m->frames, .count = rng_below(rng, XC_TRACE_MAX + 1)};
	for (size_t i = 0; i < m->trace.count; i++)
		m->frames[i] = (uint32_t)rng_below(rng, names);
}

/* A copy with changed, inserted and removed frames. */
static void make_like(struct rng *rng, struct made *m, const struct made *from, size_t names)
{
	m->trace = (struct xc_trace){.frames = m->frames};
	for (size_t i = 0; i < from->trace.count; i++) {
		size_t what = rng_below(rng, 12);
		if (what < 2 && m->trace.count < XC_TRACE_MAX)
			m->frames[m->trace.count++] = (uint32_t)rng_below(rng, names);
		if (what > 1 && m->trace.count < XC_TRACE_MAX)
			m->frames[m->trace.count++] = from->frames[i];
	}
}

PROPERTY(the_quick_way_agrees_with_the_plain_one, 3000, 20000)
{
	struct made one, other;
	size_t names = 2 + rng_below(rng, FRAMES - 2);
	make_random(rng, &one, names);
	if (rng_below(rng, 2))
		make_random(rng, &other, names);
	else
		make_like(rng, &other, &one, names);
	double d = measured(&one.trace, &other.trace), wanted = programmed(&one.trace, &other.trace);
	PROPERTY_CHECK(rng, fabs(d - wanted) < 1.0 / 32768);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_gives_the_known_vectors),
		cmocka_unit_test(two_swapped_frames_are_a_small_step),
		cmocka_unit_test(a_short_trace_is_not_like_all_that_begin_with_it),
		cmocka_unit_test(the_quick_way_agrees_with_the_plain_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
