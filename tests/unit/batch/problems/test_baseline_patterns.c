/* layer: batch */
/* Patterns of a baseline: which problems they know. */
#include "tests/support/problemed.h"
#include "tests/unit/batch/problems/baselined.h"

static void a_blank_and_a_hash_in_a_pattern_are_written_by_number(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_add(p, "a null-read parse loop")->class_name = "a # b";
	problemed_add(p, "b null-read save loop")->class_name = "a \\x";
	problemed_find(p);
	against(HEAD "match | a \\x23 b | * # one\nmatch | a \\\\x | * # other\n", p);
	assert_string_equal(problem_of(p, "a")->note, "one");
	assert_string_equal(problem_of(p, "b")->note, "other");
	finish(p);
}

static void the_headers_example_fits(void **state)
{
	(void)state;
	struct problemed *p = against(HEAD "match expires=2027-01-31 | heap-* | png_* # vendor's, see ticket 90\n",
				      PROBLEMED("a heap-corruption png_read main"));
	assert_string_equal(state_of(p, "a"), "known");
	finish(p);
}

static void a_pattern_knows_what_it_fits(void **state)
{
	(void)state;
	struct problemed *p = against(HEAD "match | null-* | loop | run # all of them\n", PROBLEMED(THREE));
	assert_string_equal(state_of(p, "a"), "known");
	assert_string_equal(problem_of(p, "b")->note, "all of them");
	assert_string_equal(state_of(p, "c"), "new");
	assert_int_equal(p->problems->count, 3);
	finish(p);
}

/* A matching member does not hide a new one. */
static void patterns_know_a_cluster_of_which_each_certain_member_fits_one(void **state)
{
#define F5 "match | null-read | f1 | f2 | f3 | f4 | f5*\n"
#define Q5 "match | null-read | f1 | f2 | f3 | f4 | q5*\n"
	static const struct {
		const char *lines, *state, *why;
	} cases[] = {
		{F5, "new", "match lines match its other cores, but not: null-read | f1 | f2 | f3 | f4 | q5"},
		{Q5, "new", "match lines match its other cores, but not: null-read | f1 | f2 | f3 | f4 | f5"},
		{"match | abort | *\n", "new", NULL},
		{F5 Q5, "known", NULL},
		{"match | null-read | f1 | *\n", "known", NULL},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = two_lines("| x", "| x");
		xc_auto(xc_freep) char *text = xc_asprintf(HEAD "%s", cases[i].lines);
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		against(text, p);
		const char *why = problem_of(p, "a")->why;
		if (strcmp(state_of(p, "a"), cases[i].state) || !why != !cases[i].why ||
		    (why && strcmp(why, cases[i].why)))
			fail_msg("%s: %s: %s", cases[i].lines, state_of(p, "a"), why ? why : "");
		xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		assert_string_equal(state_of(against(updated, p), "a"), "known");
		finish(p);
	}
}

static void of_patterns_that_fit_together_the_worst_answers(void **state)
{
	(void)state;
	struct problemed *p = two_lines("| x", "| x");
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(HEAD F5 "match expires=2020-01-01 | null-read | f1 | f2 | f3 | f4 | q5*\n", p);
	assert_true(problem_of(p, "a")->expired);
	finish(p);
}

static void a_pattern_need_not_fit_copies_and_guesses(void **state)
{
	(void)state;
	struct problemed *p =
		against(HEAD "match | wild-read | parse | x | y*\n",
			PROBLEMED("a wild-read core=1 size=100 parse x y z main",
				  "b null-read core=1 size=100 missing=90 parse x", "c wild-read missing=90 parse"));
	assert_int_equal(problem_of(p, "a")->member_count, 3);
	assert_string_equal(state_of(p, "a"), "known");
	finish(p);
}

/* Without the doubt, and with it. */
static void a_pattern_fits_the_doubt_too(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("cut null-read missing=90 parse");
	const struct xc_signature *s = problem_of(p, "cut")->members[0].signature;
	assert_string_not_equal(s->told, s->text);
	xc_auto(xc_freep) char *both = xc_asprintf(HEAD "match | %s\n", s->told);
	assert_string_equal(state_of(against(both, p), "cut"), "known");
	finish(p);
}

static void a_pattern_that_has_expired_does_not_swallow_an_update(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse loop run");
	against(HEAD "match expires=2026-11-21 | null-read | * # old\n", p);
	assert_true(problem_of(p, "a")->expired);
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(updated, p);
	assert_int_equal(p->options.baseline->count, 2);
	assert_string_equal(state_of(p, "a"), "known");
	assert_false(problem_of(p, "a")->expired);
	finish(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_knows_what_it_fits),
		cmocka_unit_test(patterns_know_a_cluster_of_which_each_certain_member_fits_one),
		cmocka_unit_test(of_patterns_that_fit_together_the_worst_answers),
		cmocka_unit_test(a_pattern_need_not_fit_copies_and_guesses),
		cmocka_unit_test(a_pattern_fits_the_doubt_too),
		cmocka_unit_test(a_pattern_that_has_expired_does_not_swallow_an_update),
		cmocka_unit_test(a_blank_and_a_hash_in_a_pattern_are_written_by_number),
		cmocka_unit_test(the_headers_example_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
