/* layer: batch */
/* Classes that a baseline accepts, and those that it does not. */
#include "tests/support/problemed.h"
#include "tests/unit/batch/problems/baselined.h"

/* One stack, and crashes of two classes. */
#define ONE_PLACE "a null-read one two three", "b use-after-free kind=read one two three"

static void a_class_that_was_not_accepted_is_new_until_it_is(void **state)
{
	static const struct {
		const char *fields, *why; /* NULL: known */
	} cases[] = {
		{"| x", NULL}, /* an older or hand-written line accepts any class */
		{"class=null-read,use-after-free", NULL},
		{"class=abort,null-read,use-after-free,wild-read severity=low", NULL},
		{"class=null-read", "a class that was not accepted: use-after-free"},
		{"class=nul-read", "a class that was not accepted: null-read, use-after-free"},
		{"class=null-read severity=info",
		 "worse than accepted: info; a class that was not accepted: use-after-free"},
		{"class=use-after-free,null-read severity=info", "worse than accepted: info"},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct problemed *p = PROBLEMED(ONE_PLACE);
		xc_auto(xc_freep) char *text = knows_a(p, cases[i].fields);
		assert_int_equal(against(text, p)->problems->count, 1);
		const struct xc_problem *problem = problem_of(p, "a");
		const char *why = problem->why ? problem->why : "";
		if (strcmp(state_of(p, "a"), cases[i].why ? "new" : "known") ||
		    strcmp(why, cases[i].why ? cases[i].why : ""))
			fail_msg("%s: %s: %s", cases[i].fields, state_of(p, "a"), why);
		xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
		assert_int_equal(strstr(updated, " class=") != NULL,
				 i > 0); /* an update removes nothing: any stays any */
		xc_baseline_free((struct xc_baseline *)p->options.baseline);
		assert_string_equal(state_of(against(updated, p), "a"), "known");
		finish(p);
	}
}

static void an_update_writes_the_classes_of_certain_members(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a wild-read core=1 size=100 parse x y z main", "b null-read parse x y z main",
					"c use-after-free kind=read core=1 size=100 missing=90 parse x",
					"d heap-overrun kind=read missing=90 parse");
	problemed_add(p, "e abort loop")->class_name = "my own,class # | \\ \xc3\xa9\n";
	problemed_find(p);
	assert_int_equal(problem_of(p, "a")->class_count, 4);
	xc_auto(xc_freep) char *first = xc_baseline_update(NULL, p->problems);
	assert_non_null(strstr(first, " severity=low class=null-read,wild-read seen=+ sig="));
	assert_non_null(strstr(first, " class=my\\x20own\\x2cclass\\x20#\\x20|\\x20\\\\\\x20\xc3\xa9\\x0a seen="));
	against(first, p);
	assert_string_equal(state_of(p, "a"), "known");
	assert_string_equal(state_of(p, "e"), "known");
	xc_auto(xc_freep) char *narrower = xc_asprintf(HEAD "%s class=abort,wild-read\n", problem_of(p, "a")->id);
	xc_baseline_free((struct xc_baseline *)p->options.baseline);
	against(narrower, p);
	xc_auto(xc_freep) char *second = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(second, " class=abort,null-read,wild-read seen=+ "));
	finish(p);
}

/* Neither a problem's other lines nor a pattern hide a class that its own line does not accept. */
static void a_class_must_be_accepted_by_each_line_of_the_cluster(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct problemed *p = i ? two_lines("class=null-read", "class=abort") : two_lines("class=abort", "| x");
		assert_string_equal(state_of(p, "a"), "new");
		assert_string_equal(problem_of(p, "a")->why, "a class that was not accepted: null-read");
		finish(p);
	}
	struct problemed *p = PROBLEMED(ONE_PLACE);
	xc_auto(xc_freep) char *text = knows_a(p, "class=null-read\nmatch | * | one *");
	assert_string_equal(state_of(against(text, p), "a"), "new");
	finish(p);
	p = against(HEAD "match class=null-read | * | one *\n", PROBLEMED(ONE_PLACE));
	assert_string_equal(state_of(p, "a"), "new");
	xc_auto(xc_freep) char *updated = xc_baseline_update(p->options.baseline, p->problems);
	assert_non_null(strstr(updated, "\nmatch class=null-read | * | one *\n"));
	assert_non_null(strstr(updated, " class=null-read,use-after-free seen=+ "));
	finish(p);
}

static void the_words_of_a_class_are_harmless(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_add(p, "a abort loop run go")->class_name = "evil\033[31m\n";
	problemed_find(p);
	xc_auto(xc_freep) char *text = knows_a(p, "class=abort");
	against(text, p);
	assert_string_equal(problem_of(p, "a")->why, "a class that was not accepted: evil\\x1b[31m\\x0a");
	finish(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_that_was_not_accepted_is_new_until_it_is),
		cmocka_unit_test(an_update_writes_the_classes_of_certain_members),
		cmocka_unit_test(a_class_must_be_accepted_by_each_line_of_the_cluster),
		cmocka_unit_test(the_words_of_a_class_are_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
