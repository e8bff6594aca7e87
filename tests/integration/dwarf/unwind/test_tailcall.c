/* layer: dwarf tier: long */
/* Frames replaced by tail calls: call sites identify the functions in between, or nothing does. */
#include "tests/support/scene.h"

#define KEEP  "__attribute__((noinline, noclone)) "
#define CRASH "volatile int sink; int *volatile null; " KEEP "int crash(int a) { *null = a; return a + sink; }\n"

static bool is_main(const struct xc_process *p, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(frame));
	return place->level_count && !strcmp(place->levels[place->level_count - 1].function, "main");
}

/* "~" before a function that left by a tail call, "~?" if others are unknown. */
static char *stack_text(struct xc_process *p)
{
	struct xc_text text = {0};
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	do
		xc_text_printf(&text, "%s%s%s ", frame.tail_call ? "~" : "", frame.tail_partial ? "?" : "",
			       function_of(p, &frame));
	while (!is_main(p, &frame) && xc_unwind_step(u, &frame, &frame, &stop));
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

static const char *const compilers[] = {"gcc -g -O2 -x c", "gcc -g -O2 -gdwarf-4 -x c", "clang -g -O2 -x c",
					"clang -g -O2 -gdwarf-4 -x c"};

static void expect_stacks(const char *source, const char *want)
{
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_stack(compilers[i], source, want);
}

static void a_single_way_is_told(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int tail(int a) { return crash(a * 2); }\n"
				 "int main(int c, char **v) { return tail(c) + sink; }\n",
		      "crash ~tail main ");
}

static void a_chain_of_tail_calls_is_told_whole(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int three(int a) { return crash(a * 2); }\n" KEEP
				 "int two(int a) { return three(a * 3); }\n" KEEP
				 "int one(int a) { return two(a * 4); }\n"
				 "int main(int c, char **v) { return one(c) + sink; }\n",
		      "crash ~three ~two ~one main ");
}

static void two_ways_are_as_good_as_none(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int left(int a) { return crash(a * 2); }\n" KEEP
				 "int right(int a) { return crash(a + 2); }\n" KEEP
				 "int fork(int a) { return a > 5 ? left(a) : right(a); }\n"
				 "int main(int c, char **v) { return fork(c) + sink; }\n",
		      "crash main ");
}

static void tail_calls_of_an_unknown_function_may_be_another_way(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int direct(int a) { return crash(a * 2); }\n" KEEP
				 "int other(int a) { return crash(a + 2); }\n"
				 "int (*volatile pointer)(int) = other;\n" KEEP
				 "int fork(int a) { return a > 5 ? direct(a) : pointer(a); }\n"
				 "int main(int c, char **v) { return fork(c) + sink; }\n",
		      "crash main ");
}

static void a_plain_call_needs_no_frames_between(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int plain(int a) { return crash(a * 2) + sink; }\n"
				 "int main(int c, char **v) { return plain(c) + sink; }\n",
		      "crash plain main ");
}

static void functions_that_call_each_other_by_tail_end(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int odd(int a);\n" KEEP "int even(int a) { return a ? odd(a - 1) : crash(a); }\n" KEEP
				 "int odd(int a) { return a ? even(a - 1) : sink; }\n"
				 "int main(int c, char **v) { return even(c * 4) + sink; }\n",
		      "crash ~even main ");
}

/* Two functions of one name in two units: the name alone does not prove that the call went there. */
static void equal_names_are_not_equal_functions(void **state)
{
	(void)state;
	expect_stack("cat >\"$TMPDIR_XC/a.c\" && gcc -g -O2 -w -c -o \"$TMPDIR_XC/a.o\" \"$TMPDIR_XC/a.c\" && "
		     "echo 'extern volatile int sink; int *volatile null; __attribute__((noinline, noclone)) static "
		     "int same(int a)"
		     " { *null = a; return a + sink; } int via(int a) { return same(a + 1); }' | "
		     "gcc -g -O2 -w -c -o \"$TMPDIR_XC/b.o\" -x c - && gcc -x c \"$TMPDIR_XC/empty.c\" -x none "
		     "\"$TMPDIR_XC/a.o\" "
		     "\"$TMPDIR_XC/b.o\" -x c",
		     "volatile int sink; int via(int);\n" KEEP "static int same(int a) { return via(a * 2); }\n"
		     "int main(int c, char **v) { return same(c) + sink; }\n",
		     "same ~via ~same main ");
}

/* All paths share their first and last call; the middle is unknown. */
static void ways_that_begin_or_end_alike_are_told_in_part(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int left(int a) { return crash(a * 2); }\n" KEEP
				 "int right(int a) { return crash(a + 2); }\n" KEEP
				 "int fork(int a) { return a > 5 ? left(a) : right(a); }\n" KEEP
				 "int two(int a) { return fork(a * 3); }\n" KEEP
				 "int one(int a) { return two(a * 4); }\n"
				 "int main(int c, char **v) { return one(c) + sink; }\n",
		      "crash ~?two ~?one main ");
	expect_stacks(CRASH KEEP
		      "int last(int a) { return crash(a * 5); }\n" KEEP "int join(int a) { return last(a * 7); }\n" KEEP
		      "int left(int a) { return join(a * 2); }\n" KEEP "int right(int a) { return join(a + 2); }\n" KEEP
		      "int fork(int a) { return a > 5 ? left(a) : right(a); }\n" KEEP
		      "int one(int a) { return fork(a * 4); }\n"
		      "int main(int c, char **v) { return one(c) + sink; }\n",
		      "crash ~?last ~?join ~?one main ");
}

/* Which of two jumps was taken is unknown: gcc keeps both, clang merges them. */
static void two_sites_of_one_function_are_two_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++)
		expect_stack(compilers[i],
			     CRASH KEEP
			     "int last(int a) { return crash(a + 9); }\n" KEEP
			     "int twice(int a) { if (a == 1) return last(a + 1); sink = 4; return last(a * 77); }\n"
			     "int main(int c, char **v) { return twice(c) + sink; }\n",
			     "crash ~?last main ");
}

/* Paths that pass a function twice do not count as other paths. */
static void rounds_of_tail_calls_do_not_make_a_chain_uncertain(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int c1(int a);\n" KEEP "int b1(int a) { return a ? c1(a - 1) : crash(a); }\n" KEEP
				 "int a1(int a) { return b1(a + 2); }\n" KEEP
				 "int c1(int a) { return a > 3 ? a1(a - 3) : b1(a); }\n" KEEP
				 "int first(int a) { return a1(a + 1); }\n"
				 "int main(int c, char **v) { return first(c * 4) + sink; }\n",
		      "crash ~b1 ~a1 ~first main ");
}

/* Such a function has ranges and no DW_AT_low_pc. */
static void the_callee_may_have_a_cold_part(void **state)
{
	(void)state;
	expect_stacks("#include <stdlib.h>\n" CRASH KEEP "int body(int a) {\n"
		      "  if (__builtin_expect(a > 9, 0)) { sink = 3; abort(); } *null = a; return a + sink; }\n" KEEP
		      "int tail(int a) { return body(a * 2); }\n"
		      "int main(int c, char **v) { return tail(c) + sink; }\n",
		      "body ~tail main ");
}

/* The call names `alias`, the function is called `tail`. */
static void functions_have_other_names(void **state)
{
	(void)state;
	expect_stacks(CRASH KEEP "int tail(int a) { return crash(a * 2); }\n"
				 "extern __typeof(tail) alias __attribute__((alias(\"tail\")));\n"
				 "int main(int c, char **v) { return alias(c) + sink; }\n",
		      "crash ~tail main ");
}

/* Tail calls from inlined functions, below an inlined one. */
static void inlined_functions_make_tail_calls(void **state)
{
	(void)state;
	expect_stacks("#define INLINE static inline __attribute__((always_inline))\n" CRASH
		      "INLINE int inner(int a) { return crash(a + 1); } INLINE int outer(int a) { return inner(a * 2); "
		      "}\n" KEEP "int tail(int a) { return a > 99 ? 3 : outer(a + 3); }\n"
		      "INLINE int around(int a) { return tail(a + 1) + sink; }\n"
		      "int main(int c, char **v) { return around(c) + sink; }\n",
		      "crash ~inner around ");
}

/* A function that was also inlined is named by its abstract instance, which has no address. */
static void link_time_optimisation_leaves_no_addresses(void **state)
{
	(void)state;
	static const char source[] =
		CRASH KEEP "int two(int a) { return crash(a * 3); }\n" KEEP "int one(int a) { return two(a * 4); }\n"
			   "int main(int c, char **v) { return one(c) + sink; }\n";
	expect_stack("gcc -g -O2 -flto -x c", source, "crash ~two ~one main ");
}

/* gcc writes DW_AT_call_target as 20 << 18. */
static void a_call_target_may_be_a_number(void **state)
{
	(void)state;
	expect_stack(
		"gcc -g -O2 -no-pie -Wl,--section-start=.fixed=0x500000 -x c",
		CRASH
		"__attribute__((noinline, noclone, section(\".fixed\"))) int tail(int a) { return crash(a * 2); }\n"
		"int main(int c, char **v) { return ((int (*)(int))0x500000)(c) + sink; }\n",
		"crash ~tail main ");
}

static void a_function_that_tells_no_sites_may_be_another_way(void **state)
{
	(void)state;
	expect_stacks(CRASH "__asm__(\".text\\nplain: ret\"); int plain(int a);\n" KEEP
			    "int fork(int a) { return a > 5 ? plain(a) : crash(a); }\n"
			    "int main(int c, char **v) { return fork(c) + sink; }\n",
		      "crash main ");
}

/* gcc writes this for functions that it did not optimise. */
static void a_function_may_tell_that_it_makes_no_tail_calls(void **state)
{
	(void)state;
	expect_stack(compilers[0],
		     CRASH "__attribute__((noinline, optimize(0))) int plain(int a) { return crash(a) + sink; }\n" KEEP
			   "int fork(int a) { return a > 5 ? plain(a) : crash(a); }\n"
			   "int main(int c, char **v) { return fork(c) + sink; }\n",
		     "crash ~fork main ");
}

/* 100 functions: more than the search limit. */
static void a_chain_that_is_too_long_is_not_told(void **state)
{
	(void)state;
	struct xc_text source = {0};
	xc_text_add(&source, CRASH KEEP "int f0(int a) { return crash(a * 2); }\n");
	for (int i = 1; i < 100; i++)
		xc_text_printf(&source, KEEP "int f%d(int a) { return f%d(a * %d); }\n", i, i - 1, i + 2);
	xc_text_add(&source, "int main(int c, char **v) { return f99(c) + sink; }\n");
	expect_stack(compilers[0], xc_text_string(&source), "crash main ");
	xc_text_fini(&source);
}

/* The library's call of its own function is bound to the program's, which makes no tail call of `wrong`. */
static void what_the_linker_put_in_its_place_is_called(void **state)
{
	(void)state;
	expect_stack("{ echo 'int wrong(int); __attribute__((noinline, noclone)) int own(int a) "
		     "{ return wrong(a + 2); } int entry(int a) { return own(a * 2); }' | "
		     "gcc -g -O2 -w -fPIC -shared -Wl,-soname,lib.so -o \"$TMPDIR_XC/lib.so\" -x c -; } && "
		     "gcc -g -O2 -w -Wl,--no-as-needed \"$TMPDIR_XC/lib.so\" -Wl,-rpath,\"$TMPDIR_XC\" -x c",
		     CRASH KEEP "int wrong(int a) { return crash(a + 9); }\n" KEEP
				"int own(int a) { return crash(a * 77); }\n"
				"int entry(int); int main(int c, char **v) { return entry(c) + sink; }\n",
		     "crash ~own ~entry main ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_way_is_told),
		cmocka_unit_test(a_chain_of_tail_calls_is_told_whole),
		cmocka_unit_test(two_ways_are_as_good_as_none),
		cmocka_unit_test(tail_calls_of_an_unknown_function_may_be_another_way),
		cmocka_unit_test(a_plain_call_needs_no_frames_between),
		cmocka_unit_test(functions_that_call_each_other_by_tail_end),
		cmocka_unit_test(equal_names_are_not_equal_functions),
		cmocka_unit_test(ways_that_begin_or_end_alike_are_told_in_part),
		cmocka_unit_test(two_sites_of_one_function_are_two_ways),
		cmocka_unit_test(rounds_of_tail_calls_do_not_make_a_chain_uncertain),
		cmocka_unit_test(the_callee_may_have_a_cold_part),
		cmocka_unit_test(functions_have_other_names),
		cmocka_unit_test(inlined_functions_make_tail_calls),
		cmocka_unit_test(link_time_optimisation_leaves_no_addresses),
		cmocka_unit_test(a_call_target_may_be_a_number),
		cmocka_unit_test(a_function_that_tells_no_sites_may_be_another_way),
		cmocka_unit_test(a_function_may_tell_that_it_makes_no_tail_calls),
		cmocka_unit_test(a_chain_that_is_too_long_is_not_told),
		cmocka_unit_test(what_the_linker_put_in_its_place_is_called),
	};
	setenv("TMPDIR_XC", scratch_dir(), 1);
	scratch_file("empty.c", "", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
