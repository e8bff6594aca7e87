/* layer: batch */
/* Grouping of records: by signature, copies, representatives of clusters, the order of clusters. */
#include "tests/support/problemed.h"

static void equal_stacks_are_one_problem(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse loop", "b null-read parse loop", "c null-read other loop");
	assert_int_equal(p->problems->count, 2);
	assert_true(together(p, "a", "b"));
	assert_false(together(p, "a", "c"));
	problemed_free(p);
}

static void other_class_groups_are_other_problems(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse loop", "b null-write parse loop", "c wild-read parse loop");
	assert_true(together(p, "a", "c"));
	assert_false(together(p, "a", "b"));
	problemed_free(p);
}

static void the_id_is_the_beginning_of_the_smallest_sig(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse loop");
	const struct xc_problem *problem = &p->problems->problems[0];
	assert_memory_equal(problem->id, problem->members[0].signature->sig, 12);
	assert_int_equal(strlen(problem->id), 12);
	problemed_free(p);
}

static void what_is_not_ok_is_listed_apart(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_add(p, "z low")->status = XC_RECORD_TIMEOUT;
	problemed_add(p, "b low")->status = XC_RECORD_UNREADABLE;
	problemed_add(p, "a null-read parse loop");
	problemed_find(p);
	assert_int_equal(p->problems->cores, 3);
	assert_int_equal(p->problems->count, 1);
	assert_int_equal(p->problems->failed_count, 2);
	assert_string_equal(p->problems->failed[0]->path, "b");
	assert_int_equal(p->problems->counts[XC_PROBLEM_OPEN], 1);
	problemed_free(p);
}

static void a_copy_goes_where_its_original_goes(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("cut null-read core=1 size=100 missing=60 wild", "long null-read core=1 size=100 parse loop",
			  "zipped null-read core=1 size=100 stored=9 parse loop", "other null-read parse loop");
	const struct xc_problem *problem = problem_of(p, "cut");
	assert_int_equal(p->problems->count, 1);
	assert_int_equal(problem->member_count, 4);
	assert_string_equal(problem->members[0].copy_of, "long");
	assert_null(problem->members[1].copy_of);
	assert_null(problem->members[2].copy_of);
	assert_string_equal(problem->members[3].copy_of, "long");
	problemed_free(p);
}

/* The core id covers headers and notes: a core with zeroed memory has all its bytes, but differs from the original. */
static void who_has_the_stack_is_the_original(void **state)
{
	(void)state;
	static const char *const lines[] = {"zeroed abort core=1 size=90 stored=90 raise",
					    "intact abort core=1 size=90 stored=90 raise abort check run main",
					    "short abort core=1 size=90 stored=20 missing=70 raise abort check"};
	for (size_t turn = 0; turn < XC_COUNT(lines); turn++) {
		struct problemed *p = problemed_new();
		for (size_t i = 0; i < XC_COUNT(lines); i++)
			problemed_add(p, lines[(i + turn) % XC_COUNT(lines)]);
		problemed_find(p);
		assert_int_equal(p->problems->count, 1);
		assert_string_equal(xc_problem_shown(p->problems->problems)->record->path, "intact");
		const struct xc_problem_member *members = p->problems->problems[0].members;
		assert_null(members[0].copy_of);
		assert_string_equal(members[1].copy_of, "intact");
		assert_string_equal(members[2].copy_of, "intact");
		problemed_free(p);
	}
}

static void whole_stacks_that_differ_are_no_copies(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read core=1 size=90 parse loop run main",
					"b null-read core=1 size=99 write flush close main",
					"c null-read core=1 size=90 missing=50 parse");
	assert_false(together(p, "a", "b"));
	for (size_t i = 0; i < p->problems->count; i++)
		for (size_t k = 0; k < p->problems->problems[i].member_count; k++)
			assert_null(p->problems->problems[i].members[k].copy_of);
	problemed_free(p);
}

/* Even if the worse one has all its bytes, and the better one's end is unknown. */
static void the_longer_of_two_broken_stacks_is_no_copy_of_the_shorter(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read core=1 size=90 parse",
					"b null-read core=1 size=90 missing=9 parse ? ? loop run serve");
	for (size_t i = 0; i < problem_of(p, "b")->member_count; i++) {
		const struct xc_problem_member *m = &problem_of(p, "b")->members[i];
		if (!strcmp(m->record->path, "b"))
			assert_null(m->copy_of);
		else
			assert_string_equal(m->copy_of, "b");
	}
	problemed_free(p);
}

static void the_best_trace_stands_for_all_then_the_smallest_core(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read size=50 parse loop", "b null-read size=90 parse loop",
					"c null-read size=40 parse loop", "d null-read size=10 parse loop");
	assert_string_equal(xc_problem_shown(problem_of(p, "a"))->record->path, "d");
	((struct xc_record *)p->records[3])->top.named = 0;
	problemed_find(p);
	assert_string_equal(xc_problem_shown(problem_of(p, "a"))->record->path, "c");
	problemed_free(p);
}

static void a_whole_stack_of_a_whole_core_stands_before_better_names(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read size=50 missing=7 parse loop run main",
			  "b null-read size=90 parse loop run main", "c null-read size=20 parse loop run");
	((struct xc_record *)p->records[1])->top.named = 0;
	problemed_find(p);
	assert_true(together(p, "a", "b") && together(p, "a", "c"));
	assert_string_equal(xc_problem_shown(problem_of(p, "a"))->record->path, "b");
	((struct xc_record *)p->records[0])->missing = 0;
	problemed_find(p);
	assert_string_equal(xc_problem_shown(problem_of(p, "a"))->record->path, "a");
	problemed_free(p);
}

static void programs_that_share_a_frame_are_two_problems(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read program=one die main", "b null-read program=two die main");
	assert_false(together(p, "a", "b"));
	problemed_free(p);
}

static void the_worst_severity_is_the_problem_s_and_the_worst_comes_first(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read one loop", "b null-read one loop", "c null-read two loop",
			  "d null-read severity=critical two loop", "e null-read severity=high three loop");
	assert_string_equal(p->problems->problems[0].severity, "critical");
	assert_string_equal(p->problems->problems[1].severity, "high");
	assert_true(&p->problems->problems[2] == problem_of(p, "a"));
	problemed_free(p);
}

/* Missing parts of a core may make its verdict worse, with nothing certain. */
static void a_copy_makes_its_problem_no_worse(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a heap-corruption core=1 severity=medium one two three main",
					"b heap-corruption core=1 severity=critical missing=512 one two three main");
	assert_string_equal(problem_of(p, "b")->members[1].copy_of, "a");
	assert_string_equal(problem_of(p, "b")->severity, "medium");
	problemed_free(p);
}

/* Even if the core of the mild one is smaller. */
static void the_worst_stands_for_all(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read size=1 one two three", "b wild-read severity=high size=9 one two three");
	assert_int_equal(p->problems->count, 1);
	assert_string_equal(xc_problem_shown(problem_of(p, "a"))->record->path, "b");
	problemed_free(p);
}

static void nothing_is_no_problem(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	problemed_find(p);
	assert_int_equal(p->problems->count, 0);
	assert_int_equal(p->problems->cores, 0);
	problemed_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_problem),
		cmocka_unit_test(other_class_groups_are_other_problems),
		cmocka_unit_test(the_id_is_the_beginning_of_the_smallest_sig),
		cmocka_unit_test(what_is_not_ok_is_listed_apart),
		cmocka_unit_test(a_copy_goes_where_its_original_goes),
		cmocka_unit_test(who_has_the_stack_is_the_original),
		cmocka_unit_test(whole_stacks_that_differ_are_no_copies),
		cmocka_unit_test(the_longer_of_two_broken_stacks_is_no_copy_of_the_shorter),
		cmocka_unit_test(the_best_trace_stands_for_all_then_the_smallest_core),
		cmocka_unit_test(a_whole_stack_of_a_whole_core_stands_before_better_names),
		cmocka_unit_test(programs_that_share_a_frame_are_two_problems),
		cmocka_unit_test(the_worst_severity_is_the_problem_s_and_the_worst_comes_first),
		cmocka_unit_test(a_copy_makes_its_problem_no_worse),
		cmocka_unit_test(the_worst_stands_for_all),
		cmocka_unit_test(nothing_is_no_problem),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
