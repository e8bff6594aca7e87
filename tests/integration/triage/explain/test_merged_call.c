/* layer: triage */
/* A call that an optimizer made of several names the lines that lead to it; a call of its own names one. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#define NOINLINE __attribute__((noinline))\nvolatile int sink, five = 5, minus = -1;\n"
#define MAIN "int main(void) { check(five, minus); return sink; }\n"

static const char *const compilers[] = {"gcc -g -O2 -x c", "clang -g -O2 -x c", "gcc -g -O3 -x c", "clang -g -O3 -x c"};

static const char two_aborts[] = HEAD "NOINLINE void check(int a, int b)\n{\n"
				      "	if (a > 7)\n		abort();\n" /* 6 7 */
				      "	sink = a;\n"
				      "	if (b < 0)\n		abort();\n" /* 9 10 */
				      "	sink = b;\n}\n" MAIN;

static void aborts_of_several_lines_are_one_call(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], two_aborts, false,
			      &(struct wanted){
				      .class_name = "abort", .function = "check", .says = "reached from line 6 or 9"});
}

static void calls_that_were_not_optimized_are_their_own(void **state)
{
	(void)state;
	judged_expect("gcc -g -O0 -x c", two_aborts, false,
		      &(struct wanted){.class_name = "abort", .function = "check", .without = "reached from"});
	judged_expect("clang -g -O0 -x c", two_aborts, false,
		      &(struct wanted){.class_name = "abort", .function = "check", .without = "reached from"});
}

static void traps_of_several_lines_are_one(void **state)
{
	(void)state;
	static const char source[] = HEAD "NOINLINE void check(int a, int b)\n{\n"
					  "	if (a > 7)\n		__builtin_trap();\n"
					  "	sink = a;\n"
					  "	if (b < 0)\n		__builtin_trap();\n"
					  "	sink = b;\n}\n" MAIN;
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false,
			      &(struct wanted){.class_name = "trap-instruction",
					       .function = "check",
					       .says = "reached from line 6 or 9"});
}

/* Several branches lead to it, from the lines of its own condition, or by goto. */
static void a_call_of_its_own_has_its_line(void **state)
{
	(void)state;
	static const char condition[] = HEAD "NOINLINE void check(int a, int b)\n{\n"
					     "	if (a > 7 ||\n	    b < 0)\n		abort();\n"
					     "	sink = b;\n}\n" MAIN;
	static const char label[] = HEAD "NOINLINE void check(int a, int b)\n{\n"
					 "	if (a > 7)\n		goto bad;\n	sink = a;\n"
					 "	if (b < 0)\n		goto bad;\n	sink = b;\n	return;\n"
					 "bad:\n	abort();\n}\n" MAIN;
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], condition, false,
			      &(struct wanted){.class_name = "abort", .function = "check", .without = "reached from"});
		judged_expect(compilers[i], label, false,
			      &(struct wanted){.class_name = "abort", .function = "check", .without = "reached from"});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aborts_of_several_lines_are_one_call),
		cmocka_unit_test(calls_that_were_not_optimized_are_their_own),
		cmocka_unit_test(traps_of_several_lines_are_one),
		cmocka_unit_test(a_call_of_its_own_has_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
