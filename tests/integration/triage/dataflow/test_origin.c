/* layer: triage */
/* The origin of a bad value, in programs where a wrong answer is close. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static void a_pointer_that_a_loop_moved_to_null_was_not_passed_so(void **state)
{
	(void)state;
	static const char source[] =
		"volatile long sink;\n"
		"__attribute__((noinline)) long hop(const unsigned char *from, long step, int n)\n"
		"{ long s = 0; for (const unsigned char *at = from; n--; at += step) s += *at; return s; }\n"
		"int main(void) { unsigned char bytes[8] = \"abc\"; sink = hop(bytes, -(long)bytes, 2); return 0; }\n";
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c",
						"clang -g -O2 -x c"};
	GRID(i, XC_COUNT(compilers)) {
		struct judged j = judge(compilers[i], source, false);
		if (!judged_same(j.verdict->class_name, "null-read") || j.verdict->origin)
			judged_fail(&j, compilers[i], "a NULL that nobody passed");
		judged_free(&j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pointer_that_a_loop_moved_to_null_was_not_passed_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
