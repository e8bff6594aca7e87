/* layer: dwarf */
/* Frames that left by a tail call: which functions lay between is told by call sites, or not at all. */
#include "tests/support/scene.h"

#define KEEP  "__attribute__((noinline, noclone)) "
#define CRASH "volatile int sink; int *volatile null; " KEEP "int crash(int a) { *null = a; return a + sink; }\n"

static char *stack_text(struct xc_process *p)
{
	struct xc_text text = {0};
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	do
		xc_text_printf(&text, "%s%s ", frame.tail_call ? "~" : "", function_of(p, &frame));
	while (strcmp(function_of(p, &frame), "main") != 0 && xc_unwind_step(u, &frame, &frame, &stop));
	xc_unwinder_free(u);
	return xc_text_take(&text);
}

static void expect_stack(const char *compiler, const char *source, const char *want)
{
	struct xc_process *p = died(compiler, source);
	xc_auto(xc_freep) char *got = stack_text(p);
	if (strcmp(got, want) != 0)
		fail_msg("%s: \"%s\" instead of \"%s\"", compiler, got, want);
	close_process(p);
}

static const char *const compilers[] = {"gcc -g -O2 -x c", "gcc -g -O2 -gdwarf-4 -x c"};

static void a_single_way_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i],
			     CRASH KEEP "int tail(int a) { return crash(a * 2); }\n"
					"int main(int c, char **v) { return tail(c) + sink; }\n",
			     "crash ~tail main ");
}

/* clang 14 gives a tail call's site the address of the jump, but no return address; gdb tells nothing either. */
static void sites_without_return_address_tell_nothing(void **state)
{
	(void)state;
	expect_stack("clang -g -O2 -x c",
		     CRASH KEEP "int tail(int a) { return crash(a * 2); }\n"
				"int main(int c, char **v) { return tail(c) + sink; }\n",
		     "crash main ");
}

static void a_chain_of_tail_calls_is_told_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i],
			     CRASH KEEP "int three(int a) { return crash(a * 2); }\n" KEEP
					"int two(int a) { return three(a * 3); }\n" KEEP
					"int one(int a) { return two(a * 4); }\n"
					"int main(int c, char **v) { return one(c) + sink; }\n",
			     "crash ~three ~two ~one main ");
}

static void two_ways_are_as_good_as_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i],
			     CRASH KEEP "int left(int a) { return crash(a * 2); }\n" KEEP
					"int right(int a) { return crash(a + 2); }\n" KEEP
					"int fork(int a) { return a > 5 ? left(a) : right(a); }\n"
					"int main(int c, char **v) { return fork(c) + sink; }\n",
			     "crash main ");
}

static void tail_calls_of_an_unknown_function_may_be_another_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i],
			     CRASH KEEP "int direct(int a) { return crash(a * 2); }\n" KEEP
					"int other(int a) { return crash(a + 2); }\n"
					"int (*volatile pointer)(int) = other;\n" KEEP
					"int fork(int a) { return a > 5 ? direct(a) : pointer(a); }\n"
					"int main(int c, char **v) { return fork(c) + sink; }\n",
			     "crash main ");
}

static void a_plain_call_needs_no_frames_between(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i],
			     CRASH KEEP "int plain(int a) { return crash(a * 2) + sink; }\n"
					"int main(int c, char **v) { return plain(c) + sink; }\n",
			     "crash plain main ");
}

static void functions_that_call_each_other_by_tail_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i],
			     CRASH KEEP "int odd(int a);\n" KEEP
					"int even(int a) { return a ? odd(a - 1) : crash(a); }\n" KEEP
					"int odd(int a) { return a ? even(a - 1) : sink; }\n"
					"int main(int c, char **v) { return even(c * 4) + sink; }\n",
			     "crash ~even main ");
}

/* Two functions of one name in two units: the name alone does not tell that the call went there. */
static void equal_names_are_not_equal_functions(void **state)
{
	(void)state;
	expect_stack("cat >$TMPDIR_XC/a.c && gcc -g -O2 -w -c -o $TMPDIR_XC/a.o $TMPDIR_XC/a.c && "
		     "echo 'extern volatile int sink; int *volatile null; __attribute__((noinline, noclone)) static "
		     "int same(int a)"
		     " { *null = a; return a + sink; } int via(int a) { return same(a + 1); }' | "
		     "gcc -g -O2 -w -c -o $TMPDIR_XC/b.o -x c - && gcc -x c $TMPDIR_XC/empty.c -x none $TMPDIR_XC/a.o "
		     "$TMPDIR_XC/b.o -x c",
		     "volatile int sink; int via(int);\n" KEEP "static int same(int a) { return via(a * 2); }\n"
		     "int main(int c, char **v) { return same(c) + sink; }\n",
		     "same ~via ~same main ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_way_is_told),
		cmocka_unit_test(sites_without_return_address_tell_nothing),
		cmocka_unit_test(a_chain_of_tail_calls_is_told_whole),
		cmocka_unit_test(two_ways_are_as_good_as_none),
		cmocka_unit_test(tail_calls_of_an_unknown_function_may_be_another_way),
		cmocka_unit_test(a_plain_call_needs_no_frames_between),
		cmocka_unit_test(functions_that_call_each_other_by_tail_end),
		cmocka_unit_test(equal_names_are_not_equal_functions),
	};
	setenv("TMPDIR_XC", scratch_dir(), 1);
	scratch_file("empty.c", "", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
