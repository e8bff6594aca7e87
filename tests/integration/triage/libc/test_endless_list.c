/* layer: triage tier: long */
/* Lists of variable arguments that nothing ends. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"                          \
	"#define NOINLINE __attribute__((noinline))\nvolatile long sink; long *volatile way;\n"                        \
	"NOINLINE void dirty(long a, long b, long c, long d, long e, long f) { long w[40]; way = w; for (int i = 0; "  \
	"i "                                                                                                           \
	"< 40; i++) w[i] = 0x70000 + i; sink = a + b + c + d + e + f + way[3]; }\n"                                    \
	"NOINLINE size_t join(char *to, const char *first, ...) { size_t n = 0; va_list list; va_start(list, first); " \
	"for (const char *part = first; part; part = va_arg(list, const char *)) { size_t m = strlen(part); "          \
	"memcpy(to + n, part, m); n += m; } va_end(list); return n; }\n"                                               \
	"char room[4096];\n"

static const char *const compilers[] = {"gcc -g -O0 -w -x c", "clang -g -O0 -w -x c", "gcc -g -O1 -w -x c",
					"gcc -g -O2 -w -x c"};

static void a_list_without_its_end_is_told(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NOINLINE size_t path(const char *base, const char *host) { dirty(1, 2, 3, 0x70001, 0x70002, "
		     "0x70003); return join(room, base, host, \"daily\") + 1; }\n"
		     "int main(void) { return (int)path(\"/var\", \"db1\"); }\n";
	judged_expect(compilers[0], source, true,
		      &(struct wanted){.class_name = "wild-read",
				       .function = "join",
				       .says = "likely more arguments were taken than passed: join() took argument ",
				       .also = " of a call by path that passes 4"});
}

/* The call passes NULL at the end, and a bad pointer before it. */
static void a_bad_pointer_that_was_passed_is_no_missing_end(void **state)
{
	(void)state;
	static const char three[] =
		HEAD "NOINLINE size_t path(const char *base, const char *host) { dirty(1, 2, 3, 4, 5, 6); return "
		     "join(room, base, host, (char *)0x70007 + sink * 0, (char *)0) + 1; }\n"
		     "int main(void) { return (int)path(\"/var\", \"db1\"); }\n";
	static const char many[] =
		HEAD "NOINLINE size_t path(const char *base, const char *host, const char *bad) { dirty(1, 2, 3, 4, 5, "
		     "6); return join(room, base, host, base, host, base, host, bad, (char *)0) + 1; }\n"
		     "int main(void) { return (int)path(\"/var\", \"db1\", (char *)0x70007); }\n";
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], three, true,
			      &(struct wanted){.class_name = "wild-read", .without = "arguments were taken"});
		judged_expect(compilers[i], many, true,
			      &(struct wanted){.class_name = "wild-read", .without = "arguments were taken"});
	}
}

/* The function's own argument is passed on as it is. */
static void an_argument_that_was_passed_on_counts(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NOINLINE size_t path(char *to, const char *base, const char *host, const char *bad) { size_t n = "
		     "join(to, base, host, bad, (char *)0); sink++; return n; }\n"
		     "int main(void) { return (int)path(room, \"/var\", \"db1\", (char *)0x70007); }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "wild-read", .without = "arguments were taken"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_without_its_end_is_told),
		cmocka_unit_test(a_bad_pointer_that_was_passed_is_no_missing_end),
		cmocka_unit_test(an_argument_that_was_passed_on_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
