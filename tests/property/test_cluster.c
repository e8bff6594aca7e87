/* layer: batch */
/* Neighbours against a comparison of all pairs; clusters: no two members of one are far apart, and no two clusters
 * could be joined. */
#include <time.h>

#include "batch/cluster/cluster.h"
#include "batch/cluster/neighbours.h"
#include "tests/support/property.h"

enum { MOST = 60, NAMES = 300, CUT = XC_DISTANCE_ONE * 3 / 10, FEW = 2000, MANY = 20000 };

struct crowd {
	size_t count;
	uint32_t frames[MOST][XC_TRACE_MAX];
	uint32_t builds[2];
	struct xc_observed_trace observed[MOST];
	const struct xc_observed_trace *list[MOST];
};

/* Families of traces, with changes. */
static void make(struct rng *rng, struct crowd *c)
{
	uint32_t family[4][XC_TRACE_MAX];
	size_t names = 3 + rng_below(rng, NAMES - 3), depth = 1 + rng_below(rng, XC_TRACE_MAX),
	       changes = rng_below(rng, 5);
	for (size_t i = 0; i < 4 * XC_TRACE_MAX; i++)
		family[i / XC_TRACE_MAX][i % XC_TRACE_MAX] = (uint32_t)rng_below(rng, names);
	c->builds[0] = 1;
	c->builds[1] = 2;
	c->count = rng_below(rng, MOST + 1);
	for (size_t i = 0; i < c->count; i++) {
		memcpy(c->frames[i], family[rng_below(rng, 4)], sizeof c->frames[i]);
		struct xc_trace trace = {.frames = c->frames[i], .count = 1 + rng_below(rng, depth)};
		for (size_t k = changes; k-- > 0;)
			trace.frames[rng_below(rng, trace.count)] = (uint32_t)rng_below(rng, names);
		c->observed[i] = (struct xc_observed_trace){.trace = trace, .program = 1, .whole = rng_below(rng, 2)};
		c->observed[i].builds = &c->builds[rng_below(rng, 2)];
		c->observed[i].build_count = rng_below(rng, 4) != 0;
		c->list[i] = &c->observed[i];
	}
}

static uint32_t distance(struct xc_probe *probe, const struct crowd *c, size_t one, size_t other)
{
	xc_probe_set(probe, &c->observed[one].trace);
	return xc_trace_similarity_distance(probe, &c->observed[one], &c->observed[other]);
}

PROPERTY(the_index_finds_all_that_are_near, 150, 500)
{
	static struct crowd c;
	make(rng, &c);
	struct xc_probe *probe = xc_probe_new(NAMES, XC_DISTANCE_ONE);
	struct xc_neighbours *n = xc_neighbours_find(c.list, c.count, NAMES, CUT);
	PROPERTY_CHECK(rng, !n->capped);
	for (size_t i = 0; i < c.count; i++) {
		size_t at = n->starts[i];
		for (size_t k = 0; k < c.count; k++) {
			uint32_t d = distance(probe, &c, i, k);
			PROPERTY_CHECK(rng, d == distance(probe, &c, k, i));
			if (i == k || d >= CUT)
				continue;
			PROPERTY_CHECK(rng, at < n->starts[i + 1] && n->others[at] == k && n->distances[at] == d);
			at++;
		}
		PROPERTY_CHECK(rng, at == n->starts[i + 1]);
	}
	xc_neighbours_free(n);
	xc_probe_free(probe);
}

/* The largest distance between members of two clusters. */
static uint32_t apart(struct xc_probe *probe, const struct crowd *c, const size_t *firsts, size_t one, size_t other)
{
	uint32_t most = 0;
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < c->count; k++) {
			if (firsts[i] != one || firsts[k] != other || i == k)
				continue;
			uint32_t d = distance(probe, c, i, k);
			most = d > most ? d : most;
		}
	return most;
}

PROPERTY(clusters_are_tight_and_none_can_be_joined, 60, 150)
{
	static struct crowd c;
	size_t firsts[MOST];
	make(rng, &c);
	struct xc_probe *probe = xc_probe_new(NAMES, XC_DISTANCE_ONE);
	xc_cluster(c.observed, c.count, NAMES, 0.3, firsts);
	for (size_t i = 0; i < c.count; i++) {
		PROPERTY_CHECK(rng, firsts[i] <= i && firsts[firsts[i]] == firsts[i]);
		if (firsts[i] != i)
			continue;
		PROPERTY_CHECK(rng, apart(probe, &c, firsts, i, i) < CUT);
		for (size_t k = 0; k < i; k++)
			PROPERTY_CHECK(rng, firsts[k] != k || apart(probe, &c, firsts, i, k) >= CUT);
	}
	xc_probe_free(probe);
}

/* ---- many stacks ---- */

struct many {
	struct xc_observed_trace *observed;
	uint32_t *frames;
	size_t count, *firsts;
};

static struct many many_new(void)
{
	struct many m = {.count = grid_count(FEW, MANY)};
	m.observed = xc_alloc(m.count * sizeof *m.observed);
	m.firsts = xc_alloc(m.count * sizeof *m.firsts);
	m.frames = xc_alloc(m.count * XC_TRACE_MAX * sizeof *m.frames);
	for (size_t i = 0; i < m.count; i++)
		m.observed[i].trace = (struct xc_trace){.frames = m.frames + i * XC_TRACE_MAX, .count = XC_TRACE_MAX};
	return m;
}

/* CPU seconds to cluster them. */
static double cluster(struct many *m, uint32_t names)
{
	clock_t start = clock();
	xc_cluster(m->observed, m->count, names, 0.3, m->firsts);
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static size_t clusters(const struct many *m)
{
	size_t count = 0;
	for (size_t i = 0; i < m->count; i++)
		count += m->firsts[i] == i;
	return count;
}

static void many_free(struct many *m)
{
	free(m->observed);
	free(m->frames);
	free(m->firsts);
}

/* 40 stacks of each problem, in a server with constant outer frames. */
static void thousands_of_stacks_are_a_matter_of_seconds(void **state)
{
	enum { FUNCTIONS = 20000, COMMON = 24, CHANGES = 4 };
	struct rng rng = {.state = 7};
	struct many m = many_new();
	const size_t problems = m.count / 40;
	(void)state;
	for (size_t i = 0; i < m.count; i++) {
		uint32_t *frames = m.observed[i].trace.frames;
		struct rng family = {.state = i % problems};
		for (size_t k = 0; k < XC_TRACE_MAX; k++)
			frames[k] = k < XC_TRACE_MAX - COMMON ? (uint32_t)(100 + rng_below(&family, FUNCTIONS))
							      : (uint32_t)(1 + k);
		for (size_t k = 0; k < CHANGES; k++)
			frames[1 + rng_below(&rng, XC_TRACE_MAX - 1)] = (uint32_t)(100 + rng_below(&rng, FUNCTIONS));
	}
	double seconds = cluster(&m, FUNCTIONS + 100);
	print_message("# %zu stacks of %zu problems: %.1f s\n", m.count, problems, seconds);
	assert_int_equal(clusters(&m), problems);
	assert_true(UNDER_ASAN || seconds < 60 * check_slowness());
	many_free(&m);
}

/* The number of pairs is the limit per stack, not all pairs. */
static void check_neighbours(const struct many *m, uint32_t names)
{
	const struct xc_observed_trace **list = xc_alloc(m->count * sizeof *list);
	for (size_t i = 0; i < m->count; i++)
		list[i] = &m->observed[i];
	struct xc_neighbours *n = xc_neighbours_find(list, m->count, names, CUT);
	assert_true(n->capped);
	assert_in_range(n->starts[m->count], 0, 2 * XC_NEIGHBOURS_KEPT * m->count);
	xc_neighbours_free(n);
	free(list);
}

/* The most expensive case: all have the same few frames, in different orders. */
static void stacks_of_few_names_take_no_longer_than_allowed(void **state)
{
	struct rng rng = {.state = 7};
	struct many m = many_new();
	(void)state;
	for (size_t i = 0; i < m.count * XC_TRACE_MAX; i++)
		m.frames[i] = (uint32_t)(1 + rng_below(&rng, 3));
	check_neighbours(&m, 4);
	double seconds = cluster(&m, 4);
	print_message("# %zu stacks of three names: %.1f s\n", m.count, seconds);
	assert_true(UNDER_ASAN || seconds < 60 * check_slowness());
	many_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_index_finds_all_that_are_near),
		cmocka_unit_test(clusters_are_tight_and_none_can_be_joined),
		cmocka_unit_test(thousands_of_stacks_are_a_matter_of_seconds),
		cmocka_unit_test(stacks_of_few_names_take_no_longer_than_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
