/* layer: batch */
/* The classes of a cluster: order, evidence for each, and the representative core. */
#include "tests/support/problemed.h"

/* "wild-read 2/1 high b.core\n": for each class its name, members, certain members, severity and best member. */
static char *told(const struct xc_problem *problem)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < problem->class_count; i++) {
		const struct xc_problem_class *c = &problem->classes[i];
		xc_text_printf(&text, "%s %zu/%zu %s %s\n", c->name, c->count, c->certain, c->severity,
			       problem->members[c->best].record->path);
	}
	return xc_text_take(&text);
}

static void expect(struct problemed *p, const char *wanted)
{
	assert_int_equal(p->problems->count, 1);
	xc_auto(xc_freep) char *classes = told(&p->problems->problems[0]);
	assert_string_equal(classes, wanted);
	problemed_free(p);
}

static void the_worst_comes_first_then_the_most_frequent_then_by_name(void **state)
{
	(void)state;
	expect(PROBLEMED("a null-read one two three", "b null-read one two three",
			 "d use-after-free kind=read one two three", "c heap-overrun kind=read one two three",
			 "e wild-read one two three", "f wild-read severity=high one two three"),
	       "wild-read 2/2 high f\nnull-read 2/2 low a\nheap-overrun 1/1 low c\nuse-after-free 1/1 low d\n");
}

static void a_class_of_copies_and_guesses_alone_speaks_for_nothing_and_comes_last(void **state)
{
	(void)state;
	expect(PROBLEMED("a wild-read core=1 size=100 parse x y z main",
			 "b null-read severity=critical core=1 size=100 missing=90 parse x",
			 "c use-after-free kind=read severity=high missing=90 parse"),
	       "wild-read 1/1 low a\nnull-read 1/0 critical b\nuse-after-free 1/0 high c\n");
}

static void a_guess_or_a_copy_is_the_best_of_its_class_only_where_nothing_else_is(void **state)
{
	(void)state;
	expect(PROBLEMED("a wild-read severity=high core=1 size=100 missing=90 parse",
			 "b wild-read severity=medium missing=90 parse",
			 "c wild-read core=1 size=100 parse x y z main"),
	       "wild-read 3/1 low c\n");
}

static void a_class_without_a_name_is_unknown(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_add(p, "a x one two three")->class_name = "";
	problemed_find(p);
	expect(p, "unknown 1/1 low a\n");
}

static void what_is_gone_has_no_classes(void **state)
{
	struct xc_baseline *b = NULL;
	static const char text[] = "# xcore baseline " XC_SIGNATURE_VERSION "\n0123456789ab\n";
	(void)state;
	CHECK_OK(xc_baseline_read(text, sizeof text - 1, "known", &b));
	struct problemed *p = problemed_new();
	p->options.baseline = b;
	problemed_find(p);
	expect(p, "");
	xc_baseline_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_comes_first_then_the_most_frequent_then_by_name),
		cmocka_unit_test(a_class_of_copies_and_guesses_alone_speaks_for_nothing_and_comes_last),
		cmocka_unit_test(a_guess_or_a_copy_is_the_best_of_its_class_only_where_nothing_else_is),
		cmocka_unit_test(a_class_without_a_name_is_unknown),
		cmocka_unit_test(what_is_gone_has_no_classes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
