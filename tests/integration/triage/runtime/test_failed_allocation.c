/* layer: triage tier: long */
/* Programs that give up when they run out of memory, and similar-looking programs. The truth is in the source. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nvolatile size_t huge = 1ul << 50; void "        \
	"*volatile kept;\n"
static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

static void expect_all(const char *source, const struct wanted *want)
{
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, false, want);
}

static void who_aborts_for_want_of_memory_is_told_with_the_size(void **state)
{
	(void)state;
	expect_all(HEAD "__attribute__((noinline)) void *take(size_t size) { void *p = malloc(size);\n"
			"if (!p) { fprintf(stderr, \"no memory for %zu\\n\", size); abort(); } return p; }\n"
			"int main(void) { kept = take(huge + 24); return 0; }\n",
		   &(struct wanted){.class_name = "out-of-memory",
				    .function = "take",
				    .says = "malloc() was asked for 1125899906842648 bytes"});
	expect_all(HEAD "__attribute__((noinline)) void *table(size_t count) { void *p = calloc(count, 16);\n"
			"if (p) return p; abort(); }\n"
			"int main(void) { kept = table(huge); return 0; }\n",
		   &(struct wanted){.class_name = "out-of-memory",
				    .function = "table",
				    .says = "calloc() was asked for 18014398509481984 bytes"});
}

static void a_function_that_gives_up_for_others_is_seen_through(void **state)
{
	(void)state;
	expect_all(
		HEAD "__attribute__((noinline)) void give_up(const char *why) { fputs(why, stderr); abort(); }\n"
		     "__attribute__((noinline)) void *grow(void *old, size_t size) { void *p = realloc(old, size);\n"
		     "if (p == NULL) give_up(\"no memory\\n\"); kept = p; return p; }\n"
		     "int main(void) { kept = grow(kept, huge); return 0; }\n",
		&(struct wanted){.class_name = "out-of-memory", .function = "grow", .says = "realloc() was asked for"});
}

/* The check of the allocation does not decide. */
static void another_reason_for_the_abort_is_not_memory(void **state)
{
	(void)state;
	expect_all(HEAD
		   "__attribute__((noinline)) void *take(size_t size, long limit) { void *p = malloc(size);\n"
		   "if (!p) fputs(\"no memory\\n\", stderr); if (!p || size > (size_t)limit) abort(); return p; }\n"
		   "volatile long limit = 10; int main(void) { kept = take(20, limit); return 0; }\n",
		   &(struct wanted){.class_name = "abort", .function = "take"});
	expect_all(HEAD "volatile int mode = 3; __attribute__((noinline)) void *take(size_t size, int how) {\n"
			"void *p = malloc(size); if (!p) return 0; if (how == 3) abort(); return p; }\n"
			"int main(void) { kept = take(20, mode); return 0; }\n",
		   &(struct wanted){.class_name = "abort", .function = "take"});
	expect_all(HEAD "__attribute__((noinline)) void *take(size_t size) { void *p = malloc(size);\n"
			"if (!p) return p; if (size > 10) abort(); return p; }\n"
			"int main(void) { kept = take(20 + (huge & 1)); return 0; }\n",
		   &(struct wanted){.class_name = "abort", .function = "take"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_aborts_for_want_of_memory_is_told_with_the_size),
		cmocka_unit_test(a_function_that_gives_up_for_others_is_seen_through),
		cmocka_unit_test(another_reason_for_the_abort_is_not_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
