/* layer: batch */
/* Truncated stacks, and the one problem that each can belong to. A stack is complete if main and start-up code
 * follow. */
#include <time.h>

#include "batch/problems/truncated_stack.h"
#include "tests/support/problemed.h"

#define START "main __libc_start_call_main@libc.so.6 _start"

static const struct xc_problem_member *member_of(const struct problemed *p, const char *path)
{
	const struct xc_problem *problem = problem_of(p, path);
	for (size_t i = 0; problem && i < problem->member_count; i++)
		if (!strcmp(problem->members[i].record->path, path))
			return &problem->members[i];
	return NULL;
}

static void one_that_begins_so_is_taken_for_it(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse load run " START, "b null-read save run " START,
					"cut null-read missing=9 parse");
	assert_true(together(p, "a", "cut"));
	assert_true(member_of(p, "cut")->guessed);
	assert_false(member_of(p, "a")->guessed);
	assert_int_equal(problem_of(p, "a")->guessed, 1);
	assert_int_equal(problem_of(p, "b")->guessed, 0);
	problemed_free(p);
}

/* It neither represents its problem nor changes its id. */
static void a_guess_is_no_face(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read parse load run " START);
	char id[13];
	memcpy(id, p->problems->problems[0].id, sizeof id);
	problemed_free(p);
	p = PROBLEMED("a null-read missing=9 parse load run " START, "0 null-read parse", "1 null-read parse load");
	assert_true(together(p, "a", "0"));
	assert_true(together(p, "a", "1"));
	assert_string_equal(problem_of(p, "a")->id, id);
	assert_string_equal(xc_problem_shown(problem_of(p, "a"))->record->path, "a");
	problemed_free(p);
}

static void of_two_that_begin_so_none_is_it(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a null-read touch load run " START, "b null-read touch save flush end " START,
			  "cut null-read touch", "longer null-read touch save", "other null-read touch walk");
	assert_false(together(p, "a", "cut"));
	assert_false(together(p, "b", "cut"));
	assert_false(member_of(p, "cut")->guessed);
	assert_true(together(p, "b", "longer"));
	assert_false(together(p, "a", "other") || together(p, "b", "other"));
	problemed_free(p);
}

static void its_own_build_is_asked_first(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read touch load run " START, "b null-read touch save flush end " START,
					"cut null-read touch");
	((struct xc_record *)p->records[0])->build_id = "aa";
	((struct xc_record *)p->records[1])->build_id = "bb";
	((struct xc_record *)p->records[2])->build_id = "bb";
	problemed_find(p);
	assert_true(together(p, "b", "cut"));
	((struct xc_record *)p->records[2])->build_id = "cc";
	problemed_find(p);
	assert_false(together(p, "a", "cut") || together(p, "b", "cut"));
	problemed_free(p);
}

static void other_programs_and_class_groups_are_no_matter(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read program=one parse load run " START,
					"b null-write parse load run " START, "cut null-read parse");
	assert_int_equal(p->problems->count, 3);
	problemed_free(p);
}

static void any_frame_of_an_overflows_round_is_its_beginning(void **state)
{
	(void)state;
	struct problemed *p =
		PROBLEMED("a stack-overflow value array value array value array start " START,
			  "b stack-overflow descend descend descend descend " START, "one stack-overflow array",
			  "two stack-overflow value", "no stack-overflow start");
	assert_true(together(p, "a", "one"));
	assert_true(together(p, "a", "two"));
	assert_false(together(p, "a", "no"));
	problemed_free(p);
}

static void a_lost_stack_is_nothing_but_a_failed_assertion(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a abort give_up " START, "b abort raise@libc.so.6",
					"c assertion raise@libc.so.6", "d assertion check run " START,
					"e null-read memcpy@libc.so.6 save run " START, "f null-read memcpy@libc.so.6");
	((struct xc_record *)p->records[2])->expression = "n < 4";
	((struct xc_record *)p->records[3])->expression = "n < 4";
	problemed_find(p);
	assert_false(together(p, "a", "b"));
	assert_true(together(p, "c", "d"));
	assert_false(together(p, "e", "f"));
	problemed_free(p);
}

static void lost_ones_of_one_program_and_class_are_together(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a abort raise@libc.so.6", "b abort raise@libc.so.6 abort@libc.so.6",
					"c abort program=other raise@libc.so.6", "d killed raise@libc.so.6");
	assert_true(together(p, "a", "b"));
	assert_int_equal(p->problems->count, 3);
	problemed_free(p);
}

static void a_guess_sets_no_severity(void **state)
{
	(void)state;
	struct problemed *p = PROBLEMED("a null-read severity=low parse load run " START,
					"cut null-read severity=critical missing=9 parse");
	assert_true(together(p, "a", "cut"));
	assert_string_equal(p->problems->problems[0].severity, "low");
	problemed_free(p);
}

/* ---- many stacks ---- */

enum { MANY = 20000 };

static struct xc_problem_member *member_made(struct xc_arena *arena, bool whole, const char *second)
{
	const struct xc_signature_frame frames[] = {{.name = "parse"}, {.name = second}, {.name = "run"}};
	struct xc_problem_member *m = xc_arena_alloc(arena, sizeof *m);
	struct xc_signature *s = xc_arena_alloc(arena, sizeof *s);
	struct xc_record *r = xc_arena_alloc(arena, sizeof *r);
	*s = (struct xc_signature){.class_group = "read", .program = "server", .complete = whole, .weak = !whole};
	s->frames = xc_arena_alloc(arena, sizeof frames);
	memcpy(s->frames, frames, sizeof frames);
	s->kept = xc_arena_alloc(arena, XC_COUNT(frames) * sizeof *s->kept);
	s->sure = s->kept_count = whole ? 3 : 2;
	for (size_t i = 0; i < s->kept_count; i++)
		s->kept[i] = i;
	r->build_id = "aa";
	*m = (struct xc_problem_member){.record = r, .signature = s};
	return m;
}

/* All start alike: each truncated stack belongs to the one complete stack with the same second frame. */
static void many_that_begin_alike_cost_a_sort(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	struct xc_signature_group *groups = xc_alloc((size_t)2 * MANY * sizeof *groups);
	const struct xc_problem_member **members = xc_alloc((size_t)2 * MANY * sizeof *members);
	size_t *firsts = xc_alloc((size_t)2 * MANY * sizeof *firsts);
	bool *guessed = xc_alloc((size_t)2 * MANY);
	for (size_t i = 0; i < (size_t)2 * MANY; i++) {
		members[i] = member_made(&arena, i < MANY, xc_arena_printf(&arena, "item_%zu", i % MANY));
		groups[i] = (struct xc_signature_group){members[i], members + i, 1};
		firsts[i] = i;
	}
	clock_t start = clock();
	xc_truncated_stack_assign(groups, (size_t)2 * MANY, firsts, guessed);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 10);
	for (size_t i = 0; i < (size_t)2 * MANY; i++) {
		assert_int_equal(firsts[i], i % MANY);
		assert_int_equal(guessed[i], i >= MANY);
	}
	free(groups);
	free(members);
	free(firsts);
	free(guessed);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_begins_so_is_taken_for_it),
		cmocka_unit_test(a_guess_is_no_face),
		cmocka_unit_test(of_two_that_begin_so_none_is_it),
		cmocka_unit_test(its_own_build_is_asked_first),
		cmocka_unit_test(other_programs_and_class_groups_are_no_matter),
		cmocka_unit_test(any_frame_of_an_overflows_round_is_its_beginning),
		cmocka_unit_test(a_lost_stack_is_nothing_but_a_failed_assertion),
		cmocka_unit_test(lost_ones_of_one_program_and_class_are_together),
		cmocka_unit_test(a_guess_sets_no_severity),
		cmocka_unit_test(many_that_begin_alike_cost_a_sort),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
