/* layer: batch */
/* Different stacks that are one problem. */
#include "tests/support/problemed.h"

/* The program's build in a record. */
static void in_build(struct problemed *p, size_t record, const char *build)
{
	struct xc_record *r = (struct xc_record *)p->records[record];
	for (size_t i = 0; i < r->frame_count; i++)
		r->frames[i].build_id = build;
}

/* A guess (truncated_stack.h) makes no stacks equal. */
static bool are_alike(const struct problemed *p)
{
	return together(p, "a", "b") && !problem_of(p, "a")->guessed;
}

/* Whether two stacks ("whole" ones reach main) are one problem, in one build and in two. */
static void expect(const char *one, const char *other, bool in_one, bool in_two)
{
	xc_auto(xc_freep) char *a = xc_asprintf("a null-read %s", one), *b = xc_asprintf("b null-read %s", other);
	struct problemed *p = PROBLEMED(a, b);
	in_build(p, 0, "aa");
	in_build(p, 1, "aa");
	problemed_find(p);
	if (are_alike(p) != in_one)
		fail_msg("%s, %s: in one build", one, other);
	in_build(p, 1, "bb");
	problemed_find(p);
	if (are_alike(p) != in_two)
		fail_msg("%s, %s: in two builds", one, other);
	problemed_free(p);
}

#define START "main __libc_start_call_main@libc.so.6 _start"

static void siblings_below_one_deep_stack_are_two(void **state)
{
	(void)state;
	expect("read_field handle dispatch run loop serve accept begin",
	       "write_field handle dispatch run loop serve accept begin", false, false);
}

static void a_change_further_out_is_the_same(void **state)
{
	(void)state;
	expect("parse handle dispatch run loop serve accept begin",
	       "parse handle dispatch_v2 run loop serve accept begin", true, true);
	expect("parse handle dispatch run loop serve accept begin",
	       "parse handle wrapper dispatch run loop serve accept begin", true, true);
	expect("parse handle a b c", "parse handle x y z", false, false);
}

static void a_helper_that_two_bugs_end_in_is_two_problems(void **state)
{
	(void)state;
	expect("fatal load_config begin handle dispatch run loop serve " START,
	       "fatal flush_log begin handle dispatch run loop serve " START, false, true);
	expect("parse handle dispatch run loop serve accept begin " START,
	       "parse handle dispatch_v2 run loop serve accept begin " START, true, true);
}

static void the_first_frame_may_be_inlined_in_another_build(void **state)
{
	(void)state;
	expect("parse handle dispatch run loop serve accept begin", "handle dispatch run loop serve accept begin",
	       false, true);
}

static void tail_calls_may_have_lost_frames_of_whole_stacks_in_another_build(void **state)
{
	(void)state;
	expect("store " START, "store save_all " START, false, true);
	expect("store " START, "store save_all each pass " START, false, false);
	expect("store", "store save_all " START, false, false);
	expect("store " START, "save_all store " START, false, false);
}

/* Lines with their builds, "aa" for all but the last. */
static struct problemed *shortened(const char *const *lines)
{
	struct problemed *p = problemed(lines);
	for (size_t i = 0; i < p->count; i++)
		in_build(p, i, i + 1 < p->count ? "aa" : "bb");
	problemed_find(p);
	return p;
}

#define SHORTENED(...) shortened((const char *const[]){__VA_ARGS__, NULL})

static void a_whole_short_stack_that_fits_two_is_of_neither(void **state)
{
	(void)state;
	struct problemed *p = SHORTENED("a null-write store die_abort " START, "b null-write store die_raise " START,
					"s null-write store " START);
	assert_false(together(p, "a", "s") || together(p, "b", "s") || together(p, "a", "b"));
	problemed_free(p);
	p = SHORTENED("b null-write store die_raise " START, "a null-write store die_abort " START,
		      "s null-write store " START);
	assert_false(together(p, "a", "s") || together(p, "b", "s") || together(p, "a", "b"));
	problemed_free(p);
	/* one of them is complete in its build, so it is the other */
	p = SHORTENED("a null-write store die_abort " START, "b null-write store die_raise " START,
		      "s null-write store " START);
	in_build(p, 1, "bb");
	problemed_find(p);
	assert_true(together(p, "a", "s") && !together(p, "b", "s"));
	problemed_free(p);
}

static void a_whole_short_stack_that_fits_two_of_one_problem_is_of_that(void **state)
{
	(void)state;
	struct problemed *p = SHORTENED("a null-write store save each pass " START,
					"b null-write store save each turn " START, "s null-write store save " START);
	assert_true(together(p, "a", "b") && together(p, "a", "s"));
	problemed_free(p);
	/* its only match is itself missing a frame */
	p = SHORTENED("a null-write store save each " START, "b null-write store save " START,
		      "s null-write store " START);
	in_build(p, 1, "cc");
	problemed_find(p);
	assert_true(together(p, "a", "b") && together(p, "a", "s"));
	problemed_free(p);
}

/* In its own build `k` differs from the stack with its frames. They come in the order of their keys: each name gives a
 * different one. */
static void what_joins_at_the_same_time_forgets_no_build(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		xc_auto(xc_freep) char *longest = xc_asprintf("x null-write store_%u save hash each " START, i);
		xc_auto(xc_freep) char *kept = xc_asprintf("k null-write store_%u save " START, i);
		xc_auto(xc_freep) char *joins = xc_asprintf("s null-write store_%u each " START, i);
		struct problemed *p = SHORTENED(longest, kept, joins);
		assert_true(together(p, "x", "s") && !together(p, "x", "k"));
		problemed_free(p);
	}
}

static void a_cut_stack_is_not_like_all_that_begin_with_it(void **state)
{
	(void)state;
	expect("parse", "parse handle dispatch run loop serve accept begin", false, false);
	expect("parse handle", "parse handle dispatch run loop serve accept begin", false, false);
}

static void a_librarys_frames_alone_do_not_join_programs(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read program=one scale@libimg.so decode@libimg.so open@libimg.so show draw",
			  "b null-read program=two scale@libimg.so decode@libimg.so open@libimg.so list",
			  "c null-read program=two scale@libimg.so decode@libimg.so open@libimg.so list fill");
	assert_false(together(p, "a", "b"));
	assert_false(together(p, "a", "c"));
	assert_true(together(p, "b", "c"));
	problemed_free(p);
	p = PROBLEMED("a null-read program=one f1@libx.so f2@libx.so f3@libx.so f4@libx.so f5@libx.so f6@libx.so "
		      "f7@libx.so one",
		      "b null-read program=two f1@libx.so f2@libx.so f3@libx.so f4@libx.so f6@libx.so f7@libx.so two");
	assert_true(together(p, "a", "b"));
	problemed_free(p);
}

static void frames_without_names_are_equal_by_build_and_offset(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read ? ? ? ? ? ? ? end", "b null-read ? ? ? ? ? ? ? end stop");
	in_build(p, 0, "aa");
	in_build(p, 1, "aa");
	problemed_find(p);
	assert_true(together(p, "a", "b"));
	problemed_free(p);
}

/* All pairs in a cluster are close: a chain of steps does not join its ends. */
static void a_chain_of_small_steps_does_not_join_its_ends(void **state)
{
	(void)state;
	struct problemed *p = problemed_new();
	for (int step = 0; step < 9; step++) {
		struct xc_text line = {0};
		xc_text_printf(&line, "c%d null-read top", step);
		for (int i = 0; i < 9; i++)
			xc_text_printf(&line, " %s%d", i < step ? "new" : "old", i);
		problemed_add(p, xc_text_string(&line));
		xc_text_fini(&line);
	}
	problemed_find(p);
	assert_false(together(p, "c0", "c8"));
	assert_in_range(p->problems->count, 2, 6);
	p->options.cut = 0.0001;
	problemed_find(p);
	assert_int_equal(p->problems->count, 5); /* five sigs: from the fifth step on the first five names are equal */
	problemed_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siblings_below_one_deep_stack_are_two),
		cmocka_unit_test(a_change_further_out_is_the_same),
		cmocka_unit_test(a_helper_that_two_bugs_end_in_is_two_problems),
		cmocka_unit_test(the_first_frame_may_be_inlined_in_another_build),
		cmocka_unit_test(tail_calls_may_have_lost_frames_of_whole_stacks_in_another_build),
		cmocka_unit_test(a_whole_short_stack_that_fits_two_is_of_neither),
		cmocka_unit_test(a_whole_short_stack_that_fits_two_of_one_problem_is_of_that),
		cmocka_unit_test(what_joins_at_the_same_time_forgets_no_build),
		cmocka_unit_test(a_cut_stack_is_not_like_all_that_begin_with_it),
		cmocka_unit_test(a_librarys_frames_alone_do_not_join_programs),
		cmocka_unit_test(frames_without_names_are_equal_by_build_and_offset),
		cmocka_unit_test(a_chain_of_small_steps_does_not_join_its_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
