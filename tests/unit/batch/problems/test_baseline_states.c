/* layer: batch */
/* States of problems relative to a baseline, and what updates remember of them. */
#include "tests/support/problemed.h"
#include "tests/unit/batch/problems/baselined.h"

static void what_is_there_is_known_and_the_rest_new_or_gone(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *text = knows_a(p, "| x # why\n0123456789ab | null-read | old # was it");
	against(text, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_string_equal(problem_of(p, "a")->note, "why");
	assert_string_equal(state_of(p, "b"), "new");
	assert_int_equal(p->problems->count, 4);
	const struct xc_problem *gone = &p->problems->problems[3];
	assert_int_equal(gone->state, XC_PROBLEM_GONE);
	assert_string_equal(gone->id, "0123456789ab");
	assert_string_equal(gone->text, "null-read | old");
	assert_int_equal(p->problems->counts[XC_PROBLEM_NEW], 2);
	assert_int_equal(p->problems->counts[XC_PROBLEM_GONE], 1);
	assert_true(problem_of(p, "a") == &p->problems->problems[2]);
	finish(p);
}

static void a_note_that_has_run_out_counts_as_new(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *over = knows_a(p, "expires=2026-11-21"), *last_day = knows_a(p, "expires=2026-11-22");
	against(over, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_true(problem_of(p, "a")->expired);
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(last_day, p);
	assert_false(problem_of(p, "a")->expired);
	finish(p);
}

/* The entry without a core; NULL: none is listed. */
static const struct xc_problem *absent_of(const struct problemed *p)
{
	for (size_t i = 0; i < p->problems->count; i++)
		if (!p->problems->problems[i].member_count)
			return &p->problems->problems[i];
	return NULL;
}

static void expect_unseen(struct problemed *p, const char *why)
{
	against(HEAD "0123456789ab seen=++\n", p);
	assert_non_null(absent_of(p));
	assert_int_equal(absent_of(p)->state, XC_PROBLEM_UNSEEN);
	if (!strstr(absent_of(p)->why, why))
		fail_msg("%s", absent_of(p)->why);
	assert_int_equal(p->problems->counts[XC_PROBLEM_GONE], 0);
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, "0123456789ab seen=++\n"));
	finish(p);
}

static void of_what_was_not_looked_at_nothing_is_gone_or_away(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	p->options.partial = "part-00003-of-00008.jsonl is missing";
	expect_unseen(p, "part-00003-of-00008.jsonl is missing");
	p = PROBLEMED(THREE);
	problemed_add(p, "d abort check loop")->status = XC_RECORD_TIMEOUT;
	expect_unseen(p, "1 core gave no verdict");
	expect_unseen(problemed_new(), "no core was found");
}

static void one_absence_changes_nothing_and_a_return_after_repair_begins_anew(void **state)
{
	static const struct {
		const char *before, *there, *away;
	} cases[] = {
		{"| x", "seen=+ ", "seen=- "},
		{"seen=+", "seen=++ ", "seen=+- "},
		{"seen=++-", "seen=++-+ ", "seen=++-- "},
		{"seen=++--", "seen=++--+ ", "seen=++--- "}, /* two sightings are weak evidence */
		{"seen=+++--", "seen=+ ", "seen=+++--- "},
		{"seen=+-+-+-+-+-+-+-+-", "seen=-+-+-+-+-+-+-+-+ ", "seen=-+-+-+-+-+-+-+-- "},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = PROBLEMED(THREE);
		xc_auto(xc_freep) char *fields = xc_asprintf("%s\n0123456789ab %s", cases[i].before, cases[i].before);
		xc_auto(xc_freep) char *text = knows_a(p, fields);
		against(text, p);
		xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
		xc_auto(xc_freep) char *there = xc_asprintf("%s %s", problem_of(p, "a")->id, cases[i].there);
		xc_auto(xc_freep) char *away =
			xc_asprintf("0123456789ab %.*s", (int)strlen(cases[i].away) - 1, cases[i].away);
		if (!strstr(updated, there) || !strstr(updated, away))
			fail_msg("%s: %s", cases[i].before, updated);
		finish(p);
	}
}

static void what_a_weak_sig_knows_is_labelled(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read", "b null-write save loop run");
	xc_auto(xc_freep) char *text = xc_asprintf("%s%s\n", HEAD, problem_of(p, "a")->id);
	assert_true(xc_signature_is_weak(problem_of(p, "a")->members[0].signature));
	xc_auto(xc_freep) char *both = xc_asprintf("%s%s\n", text, problem_of(p, "b")->id);
	against(both, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_non_null(problem_of(p, "a")->why);
	assert_null(problem_of(p, "b")->why);
	finish(p);
}

static void what_comes_and_goes_is_flaky_and_what_was_repaired_new(void **state)
{
	static const struct {
		const char *fields, *state,
			*absent; /* an entry with these fields: present, and absent; NULL: not listed */
	} cases[] = {
		{"seen=+++++", "known", "gone"},    {"seen=+", "known", "gone"},
		{"| x", "known", "gone"},           {"seen=+++++-", "known", "gone"}, /* once may be chance */
		{"seen=++-+++", "known", "gone"},   {"seen=+++++--", "new", NULL},    /* it was always present */
		{"seen=+-+-+", "flaky", "unseen"},                                    /* comes and goes */
		{"seen=+-+--", "flaky", "unseen"},  {"seen=+--+----", "flaky", "unseen"},
		{"seen=+--", "flaky", "unseen"}, /* one or two sightings are not "always" */
		{"seen=++----", "flaky", "unseen"}, {"seen=++-----", "new", NULL},
		{"seen=+++--", "new", NULL},        {"seen=+--+-----", "new", NULL},
		{"seen=-", "known", "gone"}, /* added by hand before it occurred */
		{"seen=---", "flaky", "unseen"},    {"seen=----------------", "new", NULL},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = PROBLEMED(THREE);
		xc_auto(xc_freep) char *fields = xc_asprintf("%s\n0123456789ab %s", cases[i].fields, cases[i].fields);
		xc_auto(xc_freep) char *text = knows_a(p, fields);
		against(text, p);
		if (strcmp(state_of(p, "a"), cases[i].state) != 0)
			fail_msg("%s: %s", cases[i].fields, state_of(p, "a"));
		const struct xc_problem *absent = absent_of(p);
		if (!absent != !cases[i].absent ||
		    (absent && strcmp(xc_problem_state_name(absent->state), cases[i].absent)))
			fail_msg("%s: not there: %s", cases[i].fields,
				 absent ? xc_problem_state_name(absent->state) : "none");
		if (!problem_of(p, "a")->why != !!strcmp(state_of(p, "a"), "flaky"))
			fail_msg("%s: %s: %s", cases[i].fields, state_of(p, "a"), problem_of(p, "a")->why);
		assert_int_equal(absent && absent->why, absent && absent->state == XC_PROBLEM_UNSEEN);
		if (absent && absent->why) /* not that it came back: no run saw that */
			assert_non_null(strstr(absent->why, "and may come back"));
		finish(p);
	}
}

static void the_baselines_id_stays_when_a_smaller_sig_comes(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED(THREE);
	xc_auto(xc_freep) char *text = xc_asprintf(HEAD "ffffffffffff sig=%s\n", problem_of(p, "a")->id);
	against(text, p);
	assert_string_equal(problem_of(p, "a")->id, "ffffffffffff");
	assert_string_equal(state_of(p, "a"), "known");
	finish(p);
}

static void the_sig_of_a_cut_copy_makes_nothing_known(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read core=1 size=100 parse loop", "cut null-read core=1 size=100 missing=90 wild");
	xc_auto(xc_freep) char *text =
		xc_asprintf(HEAD "ffffffffffff sig=%s\n", problem_of(p, "a")->members[1].signature->sig);
	against(text, p);
	assert_string_equal(state_of(p, "a"), "new");
	finish(p);
}

static void a_guess_neither_makes_known_nor_is_written(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a wild-read severity=high parse x y z main", "cut wild-read missing=90 parse");
	assert_int_equal(problem_of(p, "a")->guessed, 1);
	assert_true(problem_of(p, "a") == problem_of(p, "cut"));
	xc_auto(xc_freep) char *first = xc_baseline_update(NULL, p->problems);
	assert_non_null(strstr(first, xc_arena_strndup(&p->arena, sig_of(p, "a"), 24)));
	assert_null(strstr(first, xc_arena_strndup(&p->arena, sig_of(p, "cut"), 12)));
	xc_auto(xc_freep) char *text =
		xc_asprintf(HEAD "%.12s sig=%.24s\nmatch | wild-read | parse\n", sig_of(p, "cut"), sig_of(p, "cut"));
	against(text, p);
	assert_string_equal(state_of(p, "a"), "new");
	finish(p);
}

static void of_several_lines_the_worst_answers_with_its_own_id_and_note(void **state)
{
	static const struct {
		const char *bad, *state;
		bool expired;
	} cases[] = {
		{"expires=2020-01-01 | x # bad", "known", true},
		{"seen=+++-- | x # bad", "new", false},
		{"severity=info | x # bad", "new", false},
	};
	(void)state;
	for (size_t i = 0; i < 2 * XC_COUNT(cases); i++) {
		const char *wrong = cases[i / 2].bad, *good = "seen=++++ | x # good";
		struct problemed *p = i % 2 ? two_lines(wrong, good) : two_lines(good, wrong);
		const struct xc_problem *problem = problem_of(p, "a");
		assert_string_equal(state_of(p, "a"), cases[i / 2].state);
		assert_int_equal(problem->expired, cases[i / 2].expired);
		assert_string_equal(problem->note, "bad");
		assert_memory_equal(problem->id, sig_of(p, i % 2 ? "a" : "b"), 12);
		finish(p);
	}
}

static void what_is_worse_than_accepted_is_new_until_it_is_accepted(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read severity=high parse loop run");
	xc_auto(xc_freep) char *low = knows_a(p, "severity=low | x"), *high = knows_a(p, "severity=high"),
			       *any = knows_a(p, "| x");
	const char *const fine[] = {high, any};
	for (size_t i = 0; i < XC_COUNT(fine); i++) {
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		assert_string_equal(state_of(against(fine[i], p), "a"), "known");
	}
	xc_auto(xc_freep) char *kept = xc_baseline_update(p->options.baseline, p->problems);
	assert_null(strstr(kept, "severity"));
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	assert_string_equal(state_of(against(low, p), "a"), "new");
	assert_string_equal(problem_of(p, "a")->why, "worse than accepted: low");
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, " severity=high seen=+ "));
	finish(p);
	p = PROBLEMED("a null-read severity=medium parse loop run");
	against(updated, p);
	assert_string_equal(state_of(p, "a"), "known");
	xc_auto(xc_freep) char *again = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(again, " severity=high "));
	finish(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_known_and_the_rest_new_or_gone),
		cmocka_unit_test(a_note_that_has_run_out_counts_as_new),
		cmocka_unit_test(what_comes_and_goes_is_flaky_and_what_was_repaired_new),
		cmocka_unit_test(the_baselines_id_stays_when_a_smaller_sig_comes),
		cmocka_unit_test(the_sig_of_a_cut_copy_makes_nothing_known),
		cmocka_unit_test(a_guess_neither_makes_known_nor_is_written),
		cmocka_unit_test(of_several_lines_the_worst_answers_with_its_own_id_and_note),
		cmocka_unit_test(what_is_worse_than_accepted_is_new_until_it_is_accepted),
		cmocka_unit_test(of_what_was_not_looked_at_nothing_is_gone_or_away),
		cmocka_unit_test(one_absence_changes_nothing_and_a_return_after_repair_begins_anew),
		cmocka_unit_test(what_a_weak_sig_knows_is_labelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
